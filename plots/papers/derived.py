"""Values for docs/reproduction.md that no single row of a result file holds: means over a table's
cells, properties of the device, and what a document's own table makes of its text.

Each function takes the result files of one GPU and the selector's arguments, and returns None when
the files do not have what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from plots.data.devices import memory_gb_s
from plots.data.recorded import Recorded
from plots.errors import PlotsError
from plots.papers import specifications
from plots.papers.published import (
    Comparison,
    Own,
    comparisons,
    inventory,
    published_row,
    select,
    selectors,
    size_text,
    theory,
)

Derivation = Callable[[Sequence[Recorded], str], Own | None]


def _own(files: Sequence[Recorded], selector: str) -> Own | None:
    return own_value(files, selector)[0]


def _mma_cells() -> list[Comparison]:
    """The cells of Luo et al., Table VII, that an H800 measured: throughput of mma."""
    return [c for c in comparisons() if c.id == "000-18" and c.gpu == "H800"]


def _mma_mean_share(files: Sequence[Recorded], _: str) -> Own | None:
    shares, file = [], ""
    for c in _mma_cells():
        if "sparse" in c.label:
            continue
        own = _own(files, c.own)
        peak = theory(c.theory, files[0].device) if files else None
        if own is None or not peak:
            return None
        shares.append(own.value / peak)
        file = own.file
    return Own(float(np.mean(shares)), "x", file)


def _sparse_mean_gain(files: Sequence[Recorded], _: str) -> Own | None:
    cells = {c.label: c for c in _mma_cells()}
    gains, file = [], ""
    for label, dense in cells.items():
        if "sparse" in label:
            continue
        own, sparse = _own(files, dense.own), _own(files, cells[f"{label} sparse"].own)
        if own is None or sparse is None:
            return None
        gains.append(sparse.value / own.value)
        file = own.file
    return Own(float(np.mean(gains)), "x", file)


def _device(files: Sequence[Recorded], name: str) -> Own | None:
    if not files:
        return None
    device, file = files[0].device, files[0].path
    values = {
        "sm_count": (device["sm_count"], "SMs"),
        "max_clock_mhz": (device["max_clock_mhz"], "MHz"),
        "memory_gb": (device["memory_bytes"] * 2.0**-30, "GiB"),
        "memory_bus_bits": (device["memory_bus_bits"], "bit"),
        "bandwidth_gb_s": (memory_gb_s(device), "GB/s"),
        "l2_kib": (device["l2_bytes"] / 1024, "KiB"),
    }
    value, unit = values[name]
    return Own(float(value), unit, file)


def _fp32_per_clock(files: Sequence[Recorded], _: str) -> Own | None:
    rate = _own(files, "ceiling fp32_rate")
    if rate is None:
        return None
    device = files[0].device
    per_clock = rate.value * 1e3 / (device["sm_count"] * device["max_clock_mhz"])
    lanes_of_a100 = 64
    return Own(per_clock / (2 * lanes_of_a100), "x", rate.file)


# Operations per clock and SM of dense products at the full rate of compute capability 9.0.
_FULL_RATE = {"f16": 4096, "bf16": 4096, "tf32": 2048, "e4m3": 8192, "e5m2": 8192, "s8": 8192}


def _full_rate(files: Sequence[Recorded], arguments: str) -> Own | None:
    """Of the throughput rows of a wgmma microbenchmark, the least share of the full rate at the
    clock that the GPU held, in percent ("share"), or that clock in GHz ("slowest", "fastest")."""
    what, name = arguments.split()
    found = []
    for file in files:
        for m in file.document.get("microbenchmarks") or []:
            for row in m["rows"] if m["name"] == name else []:
                at = row["at"]
                known = row["quantity"] == "throughput" and at.get("input") in _FULL_RATE
                if not known or not row.get("value") or not row.get("clock_mhz"):
                    continue
                clock = row["clock_mhz"] * 1e6
                full = _FULL_RATE[at["input"]] * (2 if at.get("mode") == "sparse" else 1)
                share = row["value"]["median"] * 1e12 / (clock * file.device["sm_count"] * full)
                found.append((100 * share, clock * 1e-9, file.path))
    if not found:
        return None
    shares, clocks, paths = zip(*found, strict=True)
    values = {"share": min(shares), "slowest": min(clocks), "fastest": max(clocks)}
    return Own(values[what], "%" if what == "share" else "GHz", paths[0])


def _same_sign(files: Sequence[Recorded], name: str) -> Own | None:
    """Of the ratios of an id, how many are on the published side of 1 ("signs <id>"), or how many
    there are ("all <id>")."""
    what, wanted = name.split()
    pairs = []
    for c in comparisons():
        if c.id == wanted and c.kind == "ratio":
            own = _own(files, c.own)
            if own is None:
                return None
            pairs.append((own.value > 1, c.low > 1))
    count = len(pairs) if what == "all" else sum(a == b for a, b in pairs)
    return Own(float(count), "cells", "")


def _low_occupancy(files: Sequence[Recorded], arguments: str) -> Own | None:
    """The slow-down by one block per SM in percent, the best geometry of a mechanism on both
    sides."""
    mechanism, intensity = arguments.split()
    best = f"best async_copy/geometry bandwidth mechanism={mechanism};intensity={intensity}"
    ratio = _own(files, f"{best};occupancy=full / {best};occupancy=low")
    return None if ratio is None else Own(100 * (ratio.value - 1), "%", ratio.file)


def _printed(_: Sequence[Recorded], arguments: str) -> Own:
    """A cell of a published table: "file|where|column"."""
    file, where, column = arguments.split("|")
    return Own(float(published_row(file, where, arguments)[column]), "", "")


def _clock_cpi(files: Sequence[Recorded], arguments: str) -> Own | None:
    """Cycles per instruction by the clock read before and after: also where they are none."""
    bits, instructions = arguments.split()
    point = f"point instruction/clock difference clock={bits};instructions="
    empty, full = _own(files, point + "0"), _own(files, point + instructions)
    if empty is None or full is None:
        return None
    return Own((full.value - empty.value) / int(instructions), full.unit, full.file)


def _l1_given_up(files: Sequence[Recorded], arguments: str) -> Own | None:
    kept = [
        _own(files, f"point memory/carve_out capacity carve_out={share}")
        for share in arguments.split()
    ]
    if None in kept:
        return None
    return Own(kept[0].value - kept[1].value, kept[0].unit, kept[0].file)


def _drop_off_apps(files: Sequence[Recorded], _: str) -> Own | None:
    apps = {i.by[4:] for i in inventory() if i.where == "Fig 4" and i.by.startswith("app ")}
    rows = [
        (file.path, row)
        for file in files
        for group in file.document["groups"]
        for row in group["rows"]
        if row["role"] == "iso" and row["status"] == "ok"
    ]
    found = {a: path for a in apps for path, row in rows if row["variant"] == f"{a}/drop_off"}
    if not found:
        return None
    return Own(float(len(found)), "benchmarks", found[min(found)])


def _baseline_spread(files: Sequence[Recorded], _: str) -> Own | None:
    """The largest standard deviation of baseline at iso, cold, in percent of its mean."""
    worst: Own | None = None
    for file in files:
        if file.document["provenance"]["study"] != "paper":
            continue
        for group in file.document["groups"]:
            if group.get("invalid"):
                continue
            key = group["key"]
            for row in group["rows"] if key["cache"] == "cold" else []:
                baseline = row["variant"].endswith("/baseline") and row["role"] == "iso"
                if not baseline or row["status"] != "ok":
                    continue
                times = row["samples"]["time_ms"]
                if len(times) < 2:
                    continue
                spread = 100 * float(np.std(times, ddof=1) / np.mean(times))
                if worst is None or spread > worst.value:
                    cell = ", ".join(
                        [key["app"], size_text(key["size"]), key["cache"], key["launch"]]
                    )
                    worst = Own(spread, "%", file.path, cell)
    return worst


def _pair(arguments: str) -> tuple[specifications.Spec, specifications.Spec]:
    new, old = arguments.split(" over ")
    return specifications.find_spec(new), specifications.find_spec(old)


def _paper_balance(_: Sequence[Recorded], arguments: str) -> Own:
    precision, name = arguments.split(" ", 1)
    return Own(specifications.find_spec(name).balance(precision), "byte/FLOP", "")


def _paper_density(_: Sequence[Recorded], arguments: str) -> Own:
    one, other = _pair(arguments)
    return Own(one.density() / other.density(), "x", "")


def _paper_expected(_: Sequence[Recorded], arguments: str) -> Own:
    what, pair = arguments.split(" ", 1)
    e = specifications.expect_specs(*_pair(pair))
    values = {"flop": e.flop_ratio, "bandwidth": e.bandwidth_ratio, "expected": e.expected}
    return Own(values[what], "x", "")


DERIVATIONS: dict[str, Derivation] = {
    "mma_mean_share": _mma_mean_share,
    "sparse_mean_gain": _sparse_mean_gain,
    "device": _device,
    "fp32_per_clock_over_a100": _fp32_per_clock,
    "full_rate": _full_rate,
    "low_occupancy": _low_occupancy,
    "printed": _printed,
    "same_sign": _same_sign,
    "clock_cpi": _clock_cpi,
    "l1_given_up": _l1_given_up,
    "drop_off_apps": _drop_off_apps,
    "baseline_spread": _baseline_spread,
    "paper_balance": _paper_balance,
    "paper_density": _paper_density,
    "paper_expected": _paper_expected,
}


def value(name: str, arguments: str, files: Sequence[Recorded]) -> Own | None:
    """The value of "derived <name> <arguments>". Raises PlotsError for a name that is not there."""
    if name not in DERIVATIONS:
        raise PlotsError(f'"derived {name}": no such value')
    return DERIVATIONS[name](files, arguments)


def own_value(files: Sequence[Recorded], own: str) -> tuple[Own | None, str]:
    """Each selector's value from the first file that has it; two are divided. With the reason when
    there is none."""
    values, why = [], ""
    for s in selectors(own):
        found: Own | None = None
        if s.kind == "derived":
            found = value(s.name, s.quantity, files)
        else:
            for file in files:
                found, reason = select(file, s)
                why = why or reason
                if found is not None:
                    break
        if found is None:
            return None, why
        values.append(found)
    if len(values) == 1:
        return values[0], ""
    if not values[1].value:
        return None, why
    above, below = values
    unit = "x" if above.unit == below.unit else f"{above.unit}/{below.unit}"
    return Own(above.value / below.value, unit, above.file, above.cell), ""
