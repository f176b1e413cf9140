# Made by sites/generate.py from sites/manifest.toml: change that, and run it again.
"""Ramble's application: ramble repo add sites/ramble. Its figures of merit are lines of the CSV
that the program prints: every time and speed-up with its interval, what is claimed of it, and how
the row ended."""

from ramble.appkit import *

# Of a line of the CSV, in order.
COLUMNS = (
    "gpu",
    "driver",
    "toolkit",
    "commit",
    "app",
    "size",
    "cache",
    "launch",
    "session",
    "preset",
    "seed",
    "variant",
    "role",
    "repeat",
    "config",
    "config_source",
    "schedule",
    "status",
    "reason",
    "fallback",
    "verified",
    "error",
    "bound",
    "n",
    "time_ms",
    "time_ms_low",
    "time_ms_high",
    "coverage",
    "minimum_ms",
    "maximum_ms",
    "floor_ms",
    "bound_by",
    "floor_fraction",
    "gflops",
    "gbytes_per_s",
    "energy_mj",
    "against",
    "against_schedule",
    "speedup",
    "speedup_low",
    "speedup_high",
    "speedup_coverage",
    "claim",
    "source_digest",
    "invalid",
)
CELL = r'(?:"(?:[^"]|"")*"|[^,"]*)'
CASE = ("app", "size", "cache", "launch")
ROW = ("variant", "role", "config")


def line(*named):
    """A regular expression for a line, whose groups are the columns named; the last is not empty.
    The baseline's second row, the control, has no figures of its own: it repeats the first."""
    filled = {*CASE, *ROW, *named[-1:]} - {"size"}
    cells = []
    for column in COLUMNS[: 1 + max(COLUMNS.index(name) for name in (*named, "repeat"))]:
        cell = '[^,"]+' if column in filled else CELL
        if column in named:
            cell = f"(?P<{column}>{cell})"
        cells.append("0" if column == "repeat" else cell)
    return ",".join(cells) + "(?:,|$)"


class Amasia(ExecutableApplication):
    """CUDA benchmarks: which way of moving data pays on this GPU, by how much, and why."""

    name = "amasia"

    tags("gpu", "cuda", "benchmark", "memory")

    software_spec("amasia", pkg_spec="amasia@0.2.0 +cuda", when=["package_manager_family=spack"])
    required_package("amasia", when=["package_manager_family=spack"])

    # every variant at one realistic size
    executable(
        "quick",
        "amasia study quick --out {experiment_run_dir}/result.json --overwrite --csv - {patterns}",
        use_mpi=False,
        output_capture=OUTPUT_CAPTURE.ALL,
    )
    workload("quick", executables=["quick"])
    # every variant at the sizes of the published figures
    executable(
        "paper",
        "amasia study paper --out {experiment_run_dir}/result.json --overwrite --csv - {patterns}",
        use_mpi=False,
        output_capture=OUTPUT_CAPTURE.ALL,
    )
    workload("paper", executables=["paper"])
    # every config of every variant against the reference; nothing is timed
    executable(
        "verify",
        "amasia verify {patterns}",
        use_mpi=False,
        output_capture=OUTPUT_CAPTURE.ALL,
    )
    workload("verify", executables=["verify"])
    workload_variable(
        "patterns",
        default="",
        description="which variants, such as hotspot/tma; all by default",
        workloads=["quick", "paper", "verify"],
    )

    figure_of_merit_context(
        "case", regex=line(*CASE), output_format="{app} {size} {cache} {launch}"
    )
    figure_of_merit(
        "{variant} {role} {config} time",
        fom_regex=line(*ROW, "time_ms"),
        group_name="time_ms",
        units="ms",
        contexts=["case"],
    )
    figure_of_merit(
        "{variant} {role} {config} time low",
        fom_regex=line(*ROW, "time_ms_low"),
        group_name="time_ms_low",
        units="ms",
        contexts=["case"],
    )
    figure_of_merit(
        "{variant} {role} {config} time high",
        fom_regex=line(*ROW, "time_ms_high"),
        group_name="time_ms_high",
        units="ms",
        contexts=["case"],
    )
    figure_of_merit(
        "{variant} {role} {config} speed-up",
        fom_regex=line(*ROW, "speedup"),
        group_name="speedup",
        units="over the baseline",
        contexts=["case"],
    )
    figure_of_merit(
        "{variant} {role} {config} speed-up low",
        fom_regex=line(*ROW, "speedup_low"),
        group_name="speedup_low",
        units="over the baseline",
        contexts=["case"],
    )
    figure_of_merit(
        "{variant} {role} {config} speed-up high",
        fom_regex=line(*ROW, "speedup_high"),
        group_name="speedup_high",
        units="over the baseline",
        contexts=["case"],
    )
    figure_of_merit(
        "{variant} {role} {config} claim",
        fom_regex=line(*ROW, "claim"),
        group_name="claim",
        units="",
        contexts=["case"],
    )
    figure_of_merit(
        "{variant} {role} {config} result",
        fom_regex=line(*ROW, "status"),
        group_name="status",
        units="",
        contexts=["case"],
    )

    # A wrong result, or one that could not be had, is no success, whatever was timed.
    success_criteria(
        "no_wrong_result",
        mode="string",
        match=r"\d+ (rows )?ok, 0 failed, \d+ skipped(, 0 crashed)?$",
        file="{log_file}",
    )
