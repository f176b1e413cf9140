# Made by sites/generate.py from sites/manifest.toml: change that, and run it again.
"""Spack's recipe. From a checkout: spack repo add sites/spack; spack dev-build amasia@0.2.0"""

from spack.package import *


class Amasia(CMakePackage, CudaPackage):
    """CUDA benchmarks: which way of moving data pays on this GPU, by how much, and why."""

    license("BSD-3-Clause")

    version("0.2.0")

    variant("python", default=True, description="What python -m plots needs: figures, advice")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("git", type="build")
    depends_on("fmt@9:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("nettle@3.8:")
    depends_on("tomlplusplus@3.3:")
    depends_on("cuda@12.4:13", when="+cuda")
    with when("+python"):
        depends_on("python@3.11:", type="run")
        depends_on("py-fastjsonschema@2.19:2", type="run")
        depends_on("py-fonttools@4.40:4", type="run")
        depends_on("py-jinja2@3.1:3", type="run")
        depends_on("py-jsonschema@4.20:4", type="run")
        depends_on("py-markupsafe@2.1:3", type="run")
        depends_on("py-matplotlib@3.10:3", type="run")
        depends_on("py-numpy@2.0:2", type="run")
        depends_on("py-pandas@2.2:3", type="run")
        depends_on("py-scipy@1.14:1", type="run")

    generator("ninja")

    # One program for the GPUs of the site; without architectures there is nothing to build.
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs: cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define_from_variant("AMASIA_CUDA", "cuda"),
            self.define("AMASIA_TESTS", False),
            self.define("AMASIA_GBENCH", False),
        ]
        if self.spec.satisfies("+cuda"):
            # Real code for each: PTX that the driver translates is another program. wgmma needs the
            # code that is Hopper's own.
            chosen = self.spec.variants["cuda_arch"].value
            real = [("90a" if one == "90" else one) + "-real" for one in chosen]
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", real))
        return args

    @run_after("install")
    def install_analysis(self):
        """What python -m plots reads, the recorded results among it; they hold the winners, too."""
        share = join_path(self.prefix.share, "amasia")
        mkdirp(share)
        install_tree("inputs", join_path(share, "inputs"))
        install_tree("plots", join_path(share, "plots"))
        install("pyproject.toml", share)
        install_tree("results", join_path(share, "results"))
        install_tree("schema", join_path(share, "schema"))

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", join_path(self.prefix.share, "amasia"))

    def test_version(self):
        """the program runs, and is this version"""
        amasia = which(self.prefix.bin.amasia)
        assert str(self.spec.version) in amasia("--version", output=str.split, error=str.split)
