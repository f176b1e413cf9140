"""GPUs by data sheets and the papers' tables, and the speed-up expected from them."""

import io
import re
from dataclasses import dataclass
from functools import cache

import pandas as pd

from plots.errors import PlotsError, nearest
from plots.tree import ROOT

FOLDER = ROOT / "inputs" / "published"
TABLE1 = "s003_table1_gpu_specs"
QUOTED = "s003_text_speedups"
DATASHEETS = ROOT / "inputs" / "specifications" / "gpus.csv"


@dataclass(frozen=True)
class Spec:
    """What a source promises of a GPU: GB/s, TFLOP/s without tensor cores, mm2, W."""

    name: str
    architecture: str
    year: int
    bandwidth_gb_s: float
    fp32_tflops: float
    fp64_tflops: float
    sms: int
    tdp_w: float
    die_mm2: float
    source: str
    driver_names: tuple[str, ...] = ()

    def balance(self, precision: str = "fp32") -> float:
        """Machine balance in bytes per FLOP (Fig. 1a of the paper)."""
        return self.bandwidth_gb_s / (1e3 * self.tflops(precision))

    def density(self, precision: str = "fp32") -> float:
        """Compute density in GFLOP/s per mm2 of die (Fig. 1b of the paper)."""
        return 1e3 * self.tflops(precision) / self.die_mm2

    def tflops(self, precision: str) -> float:
        """Peak rate in TFLOP/s of "fp32" or "fp64"; NaN when the source does not say."""
        return self.fp32_tflops if precision == "fp32" else self.fp64_tflops


@dataclass(frozen=True)
class Expectation:
    """The least speed-up to expect of ``new`` over ``old``."""

    new: str
    old: str
    flop_ratio: float
    bandwidth_ratio: float
    source: str

    @property
    def expected(self) -> float:
        return min(self.flop_ratio, self.bandwidth_ratio)

    @property
    def limited_by(self) -> str:
        return "FLOP" if self.flop_ratio <= self.bandwidth_ratio else "bandwidth"

    def __str__(self) -> str:
        return (
            f"{self.expected:.2f} = min(FLOP {self.flop_ratio:.2f}, "
            f"bandwidth {self.bandwidth_ratio:.2f})"
        )


@cache
def printed_tables() -> dict[str, str]:
    """What the documents print: name -> CSV. A file has several; the line above each names it."""
    found: dict[str, str] = {}
    for path in (*sorted(FOLDER.glob("s0*.csv")), FOLDER / "quoted.csv"):
        text = path.read_text(encoding="utf-8")
        _, *parts = re.split(r"^# (\w+): .*\n", text, flags=re.MULTILINE)
        found |= zip(parts[::2], parts[1::2], strict=True)
    return found


def read_table(name: str) -> pd.DataFrame:
    """A table that a document prints."""
    return pd.read_csv(io.StringIO(printed_tables()[name]))


# What the paper's text calls the devices of its Table 1, where the words differ: the table names
# the module of the P100 (and misspells it), the text leaves out what is in brackets.
_OF_TEXT = {"P100-SMX2": "P100"}
_OF_TABLE = {"RTX 2060": "RTX 2060 SUPER"}


@cache
def paper_specs() -> tuple[Spec, ...]:
    """The eight GPUs of the paper's Table 1, with its figures. K80 is one GK210, half of the
    board."""
    return tuple(
        Spec(
            _OF_TEXT.get(r.device, r.device).split(" (")[0], r.arch, int(r.year_quarter[:4]),
            r.mem_bw_GB_s, r.fp32_TFLOP_s, r.fp64_TFLOP_s, r.sms, r.tdp_W, r.die_area_mm2,
            "Svedin et al. 2021, Table 1",
        )
        for r in read_table(TABLE1).itertuples(index=False)
    )  # fmt: skip


@cache
def datasheet_specs() -> tuple[Spec, ...]:
    """GPUs from their vendor's datasheets and whitepapers."""
    return tuple(
        Spec(
            r.name, r.architecture, r.year, r.bandwidth_gb_s, r.fp32_tflops, r.fp64_tflops, r.sms,
            r.tdp_w, r.die_mm2, r.source, tuple(r.driver_names.split(";")),
        )
        for r in pd.read_csv(DATASHEETS, comment="#").itertuples(index=False)
    )  # fmt: skip


@cache
def quoted_means() -> pd.DataFrame:
    """The mean speed-ups between GPUs that the paper quotes: new, old, mean, std_dev."""
    rows = read_table(QUOTED)
    rows = rows[rows["quantity"] == "mean Rodinia speed-up"]
    found = rows.rename(columns={"subject": "new", "baseline": "old"})
    found = found[["new", "old", "mean", "std_dev"]].replace({"new": _OF_TABLE, "old": _OF_TABLE})
    return found.reset_index(drop=True)


@cache
def strategy_quotes() -> pd.DataFrame:
    """The speed-ups of strategies on an A100 that the paper quotes: app, strategy, low, high, and
    as remark its own words."""
    rows = read_table(QUOTED)
    rows = rows[rows["id"].str.startswith("app_")]
    return pd.DataFrame(
        {
            "app": rows["id"].str.split("_").str[1],
            "strategy": rows["subject"].str.lower().str.replace(" ", "_"),
            "low": rows["value_low"].astype(float),
            "high": rows["value_high"].astype(float),
            "remark": rows["quantity"].str.removesuffix(", A100"),
        }
    ).reset_index(drop=True)


def find_spec(name: str) -> Spec:
    """The GPU of that name (ours or the driver's), or the only one whose name begins with it.

    The paper's figures come first: "A100" and "V100" mean its Table 1. Raises PlotsError with near
    names.
    """
    specs = {s.name: s for s in (*paper_specs(), *datasheet_specs())}
    wanted = name.strip().casefold().removeprefix("nvidia ").strip()
    folded = {known.casefold(): spec for known, spec in specs.items()}
    if wanted in folded:
        return folded[wanted]
    as_driver = [s for s in datasheet_specs() if f"NVIDIA {wanted}".casefold() in
                 (driver.casefold() for driver in s.driver_names)]  # fmt: skip
    if as_driver:  # "H200" is what the driver calls the SXM module
        return as_driver[0]
    starting = [spec for known, spec in folded.items() if known.startswith(wanted)]
    if len(starting) == 1:
        return starting[0]
    if starting:
        names = ", ".join(spec.name for spec in starting)
        raise PlotsError(f'GPU "{name}" is ambiguous: {names}')
    raise PlotsError(f'no GPU "{name}"; {nearest(name, specs)}')


def spec_of_driver(driver_name: str) -> Spec | None:
    """The datasheet of a GPU by the driver's name ("NVIDIA H200"); None when not listed."""
    return next((s for s in datasheet_specs() if driver_name in s.driver_names), None)


def expect_specs(new: Spec, old: Spec, precision: str = "fp32") -> Expectation:
    """The expectation from specifications."""
    flop = new.tflops(precision) / old.tflops(precision)
    sources = dict.fromkeys((new.source, old.source))
    return Expectation(
        new.name, old.name, flop, new.bandwidth_gb_s / old.bandwidth_gb_s, "; ".join(sources)
    )


def quoted_mean(new: str, old: str) -> tuple[float, float] | None:
    """(mean, standard deviation over benchmarks or NaN) that the paper quotes for the pair."""
    quotes = quoted_means()
    found = quotes[(quotes["new"] == new) & (quotes["old"] == old)]
    return None if found.empty else (float(found.iloc[0]["mean"]), float(found.iloc[0]["std_dev"]))
