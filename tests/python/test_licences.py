"""Every dependency has a licence, the page says so, and the bill of materials is valid."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import sbom
from built_code import BUILD
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import get_spdx_licensing
from structure import ROOT

MANIFESTS = ("scripts/setup.sh", "scripts/licences.toml", "cmake/Dependencies.cmake")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What the bill of materials is made of, to be changed."""
    for name in (*MANIFESTS, "pyproject.toml", "CMakeLists.txt", "docs/licences.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def mistake(tree: Path) -> str:
    with pytest.raises(sbom.Mistake) as caught:
        sbom.components(tree)
    return str(caught.value)


def test_every_manifest_is_read() -> None:
    named = sbom.manifests()
    for package in ("nettle-dev", "libgtest-dev", "libc6-dev", "g++", "python3-venv", "cmake"):
        assert ("debian", package) in named
    assert named["pypi", "numpy"] == ">=2.0,<3" and named["pypi", "nvidia-cuda-nvcc"][:2] == "=="
    setup = (ROOT / "scripts/setup.sh").read_text()
    assert setup.count("|| echo ") == sum(kind == "debian" for kind, _ in named) - 1  # libc6-dev


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("pyproject.toml", '"pytest>=8,<10"', '"Left_Pad>=1"', "left-pad (pypi) has no licence"),
        ("scripts/setup.sh", "echo libgtest-dev", "echo libslurm-dev", "libslurm-dev (debian) has"),
        ("cmake/Dependencies.cmake", "libc6-dev", "libzstd-dev", "libzstd-dev (debian) has no"),
        ("pyproject.toml", '  "ruff==0.17.5"', '  "mypy==1"', "mypy (pypi) has no licence"),
        ("scripts/licences.toml", "[pypi.ruff]", "[pypi.ruffian]", "ruff (pypi) has no licence"),
        ("scripts/licences.toml", 'use = "linked"', 'use = "lent"', "use 'lent' is none of"),
        ("scripts/licences.toml", "licence =", "license =", "has ['license'] and lacks"),
        (
            "scripts/licences.toml",
            'of = ["pandas"',
            'of = ["polars"',
            "names a package that has no",
        ),
    ],
)
def test_what_has_no_licence_is_named(tree: Path, file: str, old: str, new: str, said: str) -> None:
    change(tree / file, old, new)
    assert said in mistake(tree)


def test_a_licence_of_nothing_is_named(tree: Path) -> None:
    change(tree / "pyproject.toml", '  "ruff==0.17.5", # exactly: each release of a linter', "#")
    assert "[pypi.ruff] is named by no manifest" in mistake(tree)


def test_the_page_is_that_of_the_manifests(tree: Path) -> None:
    here = (ROOT / sbom.PAGE).read_text(encoding="utf-8")
    assert sbom.page() == here, "docs/licences.md is stale: scripts/sbom.py page"
    change(tree / "pyproject.toml", '"numpy>=2.0,<3"', '"numpy>=2.1,<3"')
    assert sbom.page(tree) != here


def test_the_bill_is_valid_and_the_same_each_time() -> None:
    document = sbom.cyclonedx(timestamp="2026-11-25T10:00:00+00:00", commit="a" * 40)
    text = sbom.as_text(document)
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"library"', '"libary"')) is not None
    again = sbom.cyclonedx(timestamp="2026-11-25T10:00:00+00:00", commit="a" * 40)
    assert sbom.as_text(again) == text

    references = {c["bom-ref"] for c in document["components"]}
    assert len(references) == len(document["components"]) == len(sbom.components())
    reached = {ref for d in document["dependencies"] for ref in d["dependsOn"]}
    assert reached == references, "each is a dependency of something"
    of_nvcc = next(c for c in document["components"] if c["bom-ref"] == "pypi/nvidia-cuda-nvcc")
    assert of_nvcc["purl"] == f"pkg:pypi/nvidia-cuda-nvcc@{of_nvcc['version']}"
    here = {
        c["bom-ref"]: c.get("version", "")
        for c in sbom.cyclonedx(with_installed=True)["components"]
    }
    assert here["pypi/numpy"] == importlib.metadata.version("numpy")
    assert validator.validate_str(sbom.as_text(sbom.cyclonedx(with_installed=True))) is None


def test_every_licence_is_a_name_of_spdx() -> None:
    spdx = get_spdx_licensing()
    for component in sbom.components():
        answer = spdx.validate(component.licence)
        unknown = [name for name in answer.invalid_symbols if not name.startswith("LicenseRef-")]
        assert not unknown and (not answer.errors or answer.invalid_symbols), (
            f"{component.package}: {unknown}"
        )
    own = re.search(r"^license: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert (
        own and own[1] == sbom.cyclonedx()["metadata"]["component"]["licenses"][0]["license"]["id"]
    )


def needed_by(package: str) -> set[str]:
    """What the installed package asks for on this machine, without its extras."""
    needed = set()
    for requirement in importlib.metadata.requires(package) or []:
        name, _, marker = requirement.partition(";")
        if re.search(r"extra|win32|emscripten|Windows|python_version *< *\S3\.1[01]\b", marker):
            continue
        found = re.match(r"[A-Za-z0-9._-]+", name)
        assert found
        needed.add(sbom.normal(found[0]))
    return needed


def test_what_the_packages_bring_is_named_and_has_the_licence_it_says() -> None:
    """Of what is installed here: a newer version may bring more, or change its licence."""
    rows = {c.package: c for c in sbom.components() if c.kind == "pypi"}
    found = 0
    for package, component in rows.items():
        try:
            said = importlib.metadata.metadata(package).get("License-Expression")
        except importlib.metadata.PackageNotFoundError:
            continue
        found += 1
        assert said in (None, component.licence), f"{package} says {said}"
        for brought in needed_by(package):
            assert brought in rows, f"{package} brings {brought}, which has no licence"
            direct = ("pypi", brought) in sbom.manifests()
            assert direct or package in rows[brought].of, f"{brought} is not 'of' {package}"
    assert found > 20


def test_what_is_linked_is_what_the_page_says() -> None:
    """The libraries in the link of the program: those of this build, and of the table."""
    command = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "commands", "amasia"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()[-1]  # fmt: skip
    linked = {c.package for c in sbom.components() if c.use == "linked"}
    outside = [
        word
        for word in command.split()
        if re.search(r"\.(a|so)(\.\d+)*$", word) and word.startswith("/")
    ]
    known = {
        "libnettle": "nettle-dev",
        "libgomp": "g++",
        "libcudart_static": "nvidia-cuda-runtime",
        "libcudadevrt": "nvidia-cuda-runtime",
        "libpthread": "libc6-dev",
        "libdl": "libc6-dev",
        "librt": "libc6-dev",
    }
    for library in outside:
        name = Path(library).name.split(".")[0]
        assert name in known, f"{library} is linked, and docs/licences.md does not know it"
        shared = known[name] == "libc6-dev"
        assert shared or known[name] in linked
    assert any("libnettle" in library for library in outside)
    assert "-static-libstdc++" in command and "-static-libgcc" in command


# --- CITATION.cff ---------------------------------------------------------------------------------


def test_the_citation_has_the_form_that_its_readers_expect() -> None:
    """As the schema of the Citation File Format 1.2.0 has it, for the keys that are used here."""
    import yaml

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    keys = {
        "cff-version", "message", "type", "title", "version", "date-released", "license", "authors",
        "keywords", "references",
    }  # fmt: skip
    assert set(citation) <= keys and {"message", "title", "authors"} <= set(citation)
    assert re.fullmatch(r"\d+\.\d+\.\d+", citation["version"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(citation["date-released"]))
    people = list(citation["authors"])
    for reference in citation["references"]:
        assert {"type", "title", "authors"} <= set(reference)
        assert reference["type"] in ("article", "book", "conference-paper", "software", "report")
        assert isinstance(reference["year"], int) and reference["url"].startswith("https://")
        people += reference["authors"]
    for person in people:
        assert set(person) in ({"name"}, {"family-names", "given-names"}), person
        assert all(isinstance(text, str) and text for text in person.values())
    assert len(set(citation["keywords"])) == len(citation["keywords"])
    json.dumps(citation, default=str)
