#!/usr/bin/env python3
"""Result files and profiles of formats 1 to 4 as files of format 5, judged by today's rule.

    PYTHONPATH=TREE_OF_0.1.0 scripts/convert_to_5.py IN.json OUT.json.gz

Reads with the reader of the old tree, so it lives in the history only.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from plots.documents import read_document, text_of

from plots import recomputed

Record = dict[str, Any]
SCHEMA = json.loads(
    (Path(__file__).parents[1] / "schema" / "result.schema.json").read_text(encoding="utf-8")
)
LINES = ("kernels", "groups", "microbenchmarks", "rows", "comparisons")
_ROUNDS_FOR_REPEATS = 4


# --- The text -------------------------------------------------------------------------------------


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def value_text(name: str, value: Any) -> str:
    if name not in LINES or not isinstance(value, list) or not value:
        return compact(value)
    items = (
        "{" + members_text(item, ",") + "}" if isinstance(item, dict) else compact(item)
        for item in value
    )
    return "[\n" + ",\n".join(items) + "]"


def members_text(members: Record, separator: str) -> str:
    return separator.join(f"{compact(n)}:{value_text(n, v)}" for n, v in members.items())


def sealed(schema: str, version: int, members: Record) -> bytes:
    rest = members_text(members, ",\n") + "\n}\n"
    digest = hashlib.sha256(rest.encode()).hexdigest()
    first = f'{{"schema":"{schema}","version":{version},"digest":"sha256:{digest}",\n'
    return (first + rest).encode()


def gzipped(text: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = packer.compress(text) + packer.flush()
    assert packed[4:8] == bytes(4)  # no time stamp
    return packed


# --- The members ----------------------------------------------------------------------------------


def says_nothing(name: str, value: Any) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return name == "repeat" and value == 0
    return not value


def shaped(value: Any, schema: Record) -> Any:
    """The value with its members in the order of the schema, those that say nothing left out, and
    numbers that may have fractions as such."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if "properties" in schema:
        unknown = value.keys() - schema["properties"].keys()
        assert not unknown, unknown
        members = {}
        for name, of in schema["properties"].items():
            required = name in schema["required"]
            if not required and says_nothing(name, value.get(name)):
                continue
            members[name] = shaped(value[name], of)
        return members
    if "items" in schema:
        return [shaped(item, schema["items"]) for item in value]
    if isinstance(schema.get("additionalProperties"), dict):
        return {name: shaped(item, schema["additionalProperties"]) for name, item in value.items()}
    types = schema.get("type", ())
    if "number" in ((types,) if isinstance(types, str) else types) and type(value) is int:
        return float(value)
    return value


def shortest(value: float) -> float:
    """The shortest decimal that gives the same float32, as a number."""
    single = np.float32(value)
    assert float(single) == value, value
    return float(str(single))


def clock(value: float) -> float | None:
    return None if math.isnan(value) else math.floor(10 * value + 0.5) / 10


def samples_of(samples: dict[str, np.ndarray]) -> Record:
    rounds = samples["round"].tolist()
    clocks = [clock(value) for value in samples["sm_clock_mhz"].tolist()]
    return {
        "round": [] if rounds == list(range(len(rounds))) else rounds,
        "position": samples["position"].tolist(),
        "time_ms": [shortest(value) for value in samples["time_ms"].tolist()],
        "sm_clock_mhz": clocks if any(value is not None for value in clocks) else [],
        "throttled": np.flatnonzero(samples["throttled"]).tolist(),
    }


def round_order(entries: int, number: int) -> list[int]:
    zigzag = [(p + 1) // 2 if p % 2 else (entries - p // 2) % entries for p in range(entries)]
    order = [(z + number % entries) % entries for z in zigzag]
    return order[::-1] if entries % 2 and number // entries % 2 else order


def rows_of_round(rows: list[int], repeated: list[int], number: int) -> list[int]:
    slots = -(-len(repeated) // _ROUNDS_FOR_REPEATS)
    entries = len(rows) + slots
    cycle = 2 * entries if entries % 2 else entries
    return [
        rows[entry]
        if entry < len(rows)
        else repeated[(number * slots + entry - len(rows) + number // cycle) % len(repeated)]
        for entry in round_order(entries, number)
    ]


def leave_out_positions(group: Record) -> None:
    rows = [r for r, row in enumerate(group["rows"]) if len(row["samples"]["time_ms"])]
    repeated: list[int] = []
    if any(row.get("repeat_samples") for row in group["rows"]):
        repeated = [
            r
            for r in rows
            if group["rows"][r]["role"] != "candidate"
            and not (
                group["rows"][r]["variant"].endswith("/baseline")
                and group["rows"][r]["role"] != "matched"
            )
        ]
    orders: dict[int, list[int]] = {}

    def place(row: int, number: int, nth: int) -> int:
        if number not in orders:
            orders[number] = rows_of_round(rows, repeated, number)
        places = [p for p, r in enumerate(orders[number]) if r == row]
        return places[nth] if nth < len(places) else -1

    for r, row in enumerate(group["rows"]):
        for nth, member in enumerate(("samples", "repeat_samples")):
            samples = row.get(member)
            if not samples:
                continue
            rounds = samples["round"] or range(len(samples["time_ms"]))
            if samples["position"] == [place(r, number, nth) for number in rounds]:
                samples["position"] = []


def readings_of(samples: Record) -> Record:
    """Columns of which no value is known are left out."""
    return {
        name: values
        for name, values in samples.items()
        if name == "value" or any(value is not None for value in values)
    }


def prepare(document: Record) -> list[Record]:
    """Brings the groups and microbenchmarks into the new form, in place. Returns the kernels."""
    kernels: dict[str, int] = {}
    found: list[Record] = []

    def index_of(kernel: Record) -> int:
        text = compact(kernel)
        if text not in kernels:
            kernels[text] = len(found)
            found.append(kernel)
        return kernels[text]

    confidence = recomputed.asked_confidence(document["provenance"])
    for group in document["groups"]:
        if floor := group.get("floor"):
            bounds = ("bytes", "operations", "dependency")
            floor["floor_ms"] = recomputed.floor_ms(floor)
            floor["bound_by"] = max(bounds, key=lambda bound: floor[f"{bound}_ms"])
        rule = group.get("interval_rule")
        summaries = recomputed.row_summaries(group, confidence, rule)
        for row, summary in zip(group["rows"], summaries, strict=True):
            if row["status"] == "ok":
                row["floor_fraction"] = summary["floor_fraction"]
            for member in ("samples", "repeat_samples"):
                if row.get(member) is not None:
                    empty = not len(row[member]["time_ms"])
                    row[member] = samples_of(row[member])
                    if empty and member == "repeat_samples":
                        row[member] = None
            row["evidence"] = [index_of(kernel) for kernel in row.get("evidence") or ()]
        leave_out_positions(group)
        if probe := group.get("probe"):
            for name in ("wait_us", "memory_us"):
                probe[name] = [round(value, 3) for value in probe[name]]
            probe["arithmetic_cycles"] = [round(value) for value in probe["arithmetic_cycles"]]
    for microbenchmark in document.get("microbenchmarks") or ():
        for row in microbenchmark["rows"]:
            row["samples"] = readings_of(row["samples"])
            row["evidence"] = [index_of(kernel) for kernel in row.get("evidence") or ()]
    return found


def result(path: Path) -> bytes:
    document = read_document(path)
    assert document["digests"] == "by content"
    kernels = prepare(document)
    # To the words of the schema's order.
    members = {
        name: document.get(name)
        for name in SCHEMA["properties"]
        if name not in ("schema", "version", "digest")
    }
    members["kernels"] = kernels
    members["ceilings"] = members["ceilings"] or []
    whole = {"schema": "amasia-result", "version": 5, "digest": "", **members}
    shape = {**SCHEMA, "properties": {**SCHEMA["properties"], "schema": {}, "version": {}}}
    ordered = shaped(whole, shape)
    for name in ("schema", "version", "digest"):
        del ordered[name]
    return sealed("amasia-result", 5, ordered)


def profile(path: Path) -> bytes:
    document = json.loads(text_of(path))
    shape = SCHEMA["$defs"]["profile_file"]
    ordered = shaped(document, shape)
    for name in ("schema", "version", "digest"):
        del ordered[name]
    return sealed("amasia-profile", 2, ordered)


def main() -> None:
    for source, target in pairwise(sys.argv[1:]) if len(sys.argv) == 3 else ():
        path = Path(source)
        is_profile = '"amasia-profile"' in path.read_text(encoding="utf-8")[:200]
        text = profile(path) if is_profile else result(path)
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).write_bytes(gzipped(text))
        print(f"{target}: {path.stat().st_size} -> {len(text)} -> {Path(target).stat().st_size}")


main()
