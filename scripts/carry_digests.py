#!/usr/bin/env python3
"""Carries rows to the digests of sources whose machine code is the same to the byte.

Only in files that measured the variant or microbenchmark.

scripts/carry_digests.py OLD NEW NAME...: OLD and NEW are folders with source_digests.inc and
microbenchmark_digests.inc of two builds, NAME is nw, hotspot/tma or tma/latency.
"""

import gzip
import hashlib
import re
import sys
from pathlib import Path


def digests(folder: str) -> dict[str, str]:
    return dict(
        re.findall(
            r'\{"([^"]+)", "([0-9a-f]{64})"\}',
            "".join(p.read_text() for p in Path(folder).glob("*.inc")),
        )
    )


old, new = (digests(folder) for folder in sys.argv[1:3])
carried = {
    name: (old[name].encode(), new[name].encode())
    for name in old
    if new.get(name, old[name]) != old[name]
    and any(name == n or name.startswith(n + "/") for n in sys.argv[3:])
}
files = [*Path("results/h200").glob("*.json.gz"), *Path("results/examples").glob("*/*.json.gz")]
for path in [*sorted(files), Path("results/h200/tuning.json")]:
    packed = path.suffix == ".gz"
    data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
    measured = {
        name.decode() for name in re.findall(rb'"(?:variant|name)":\s*"([a-z0-9_/]+)"', data)
    }
    here = dict(pair for name, pair in carried.items() if name in measured)
    changed = re.sub(rb"[0-9a-f]{64}", lambda m, here=here: here.get(m[0], m[0]), data)
    if changed == data:
        continue
    if packed:
        first, rest = changed.split(b"\n", 1)
        first = re.sub(
            rb"sha256:[0-9a-f]{64}", b"sha256:" + hashlib.sha256(rest).hexdigest().encode(), first
        )
        changed = gzip.compress(first + b"\n" + rest, 9, mtime=0)
    path.write_bytes(changed)
    print(path)
