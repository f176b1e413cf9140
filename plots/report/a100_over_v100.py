"""A100 over V100 as Svedin et al. 2021 have it: each value that they quote, and what each ceiling
lets one expect by the V100 that is meant."""

import pandas as pd

from plots.papers import specifications
from plots.papers.expect import quoted_programs

NEW, OLD = "A100", "V100"

# Values of the text outside the sections whose speed-ups inputs/published/s003.csv has.
_ELSEWHERE = (
    ("sec 1", "speed-up in marketing claims, often deep learning", "up to 2.7"),
    ("sec 2", "speed-up in sparse linear algebra, two earlier studies", "1.8"),
    ("sec 3", "memory bandwidth", "about 1.7"),
    ("sec 3", "L2 cache", "more than 6"),
)


def _expected() -> specifications.Expectation:
    return specifications.expect_specs(*map(specifications.find_spec, (NEW, OLD)))


def quoted() -> pd.DataFrame:
    """Every A100-over-V100 ratio of the text, in its order: where, what, ratio as printed, and of
    a measured speed-up its share of the least that the paper expects."""
    rows = specifications.read_table(specifications.QUOTED)
    rows = rows[(rows["subject"] == NEW) & (rows["baseline"] == OLD)]
    ratios = rows["value_low"].fillna(rows["mean"])
    measured = rows["quantity"].str.contains("speed-up") & ~rows["quantity"].str.contains("expect")
    frame = pd.DataFrame(
        {
            "where": rows["where"],
            "what": rows["quantity"],
            "ratio": [f"{ratio:g}" for ratio in ratios],
            "of expected": (ratios / _expected().expected).where(measured),
        }
    )
    elsewhere = pd.DataFrame(_ELSEWHERE, columns=["where", "what", "ratio"])
    return pd.concat([elsewhere, frame], ignore_index=True)


def _memories() -> dict[str, str]:
    """GPU -> its memory: of the paper's Table 1, else of the data sheets."""
    table = specifications.read_table(specifications.TABLE1)
    sheets = pd.read_csv(specifications.DATASHEETS, comment="#")
    of_sheets = sheets["memory_gb"].astype(str) + " GB " + sheets["memory_type"]
    of_table = table["memory_GB"].astype(str) + " GB " + table["memory_type"]
    return dict(zip(sheets["name"], of_sheets, strict=True)) | dict(
        zip(table["device"], of_table, strict=True)
    )


def by_module() -> pd.DataFrame:
    """What each ceiling lets one expect of the paper's A100, by which V100 it is compared with, and
    the mean that the paper measured over the smaller of them."""
    new, memory = specifications.find_spec(NEW), _memories()
    quote = specifications.quoted_mean(NEW, OLD)
    records = []
    for old in map(specifications.find_spec, (OLD, "V100 PCIe", "V100 SXM2")):
        fp32, fp64 = (specifications.expect_specs(new, old, p) for p in ("fp32", "fp64"))
        records.append(
            {
                "V100": "Table 1" if old.name == OLD else old.name,
                "memory": memory[old.name],
                "GB/s": old.bandwidth_gb_s,
                "fp32 TFLOP/s": old.fp32_tflops,
                "W": old.tdp_w,
                "FLOP fp32": fp32.flop_ratio,
                "FLOP fp64": fp64.flop_ratio,
                "bandwidth": fp32.bandwidth_ratio,
                "expected": fp32.expected,
                "mean / expected": quote[0] / fp32.expected,
            }
        )
    return pd.DataFrame(records)


def ceilings_of_programs() -> list[str]:
    """Which ceiling allows what the paper quotes of single programs: sentences."""
    e = _expected()
    low, high = sorted((e.flop_ratio, e.bandwidth_ratio))
    programs = quoted_programs()
    above = programs[programs["speedup"] > high]
    between = programs[programs["speedup"].between(low, high)]

    def named(of: pd.DataFrame) -> str:
        return " and ".join(f"{p.program} ({p.speedup:g})" for p in of.itertuples())

    return [
        f"Code that arithmetic binds should gain {e.flop_ratio:.2f}, code that memory binds "
        f"{e.bandwidth_ratio:.2f}; where it is not known which, the smaller.",
        f"{named(between)} lies between the two ceilings. {named(above)} are above both: neither "
        "ratio explains them. The L2 cache, which grew most, is in neither.",
        "Below the expectation, without a figure: Heartwall, HotSpot, Leukocyte, Myocyte and "
        "Pathfinder (section 6.1), NW and LUD (section 6.3).",
    ]
