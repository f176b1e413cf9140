"""Compare the machine code of every kernel in two build folders.

    compare_code.py OLD_BUILD NEW_BUILD [--arch sm_90a] [--cuobjdump PATH] [--rename 'RE=>TEXT' ...]

Every *.cu.o below a build folder is opened with cuobjdump, and of each kernel in its module for
ARCH what the GPU runs is taken: the instructions' bytes (branches are relative: no address of the
module is among them), relocations by name and offset, constants, static shared memory, parameters,
registers and stack. Line tables and other debug information do not count. Kernels meet by demangled
name (without the hash that nvcc puts into anonymous namespaces) after --rename, tried in order on
the OLD names; what is left over meets by equal code: renamed. Several objects may hold a kernel of
one name (templates, anonymous namespaces of several files): then the sets of their codes are
compared.

Exit code: 0 when no kernel differs, is missing or is new; 1 otherwise. Renamed ones are listed.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# Attributes of .nv.info whose payload is (symbol, value).
BY_SYMBOL = {0x11: "frame", 0x12: "minimum stack", 0x23: "maximum stack", 0x2F: "registers"}
EXTERNS = 0x0F  # symbol indices: they number the module's symbols, not the kernel
NOBITS = 8
DATA = re.compile(r"\.nv\.(global\.init|global|constant[1-9]\d*)$")


@dataclass
class Code:
    """What runs, of one kernel in one object."""

    where: str
    text: bytes = b""
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def print(self) -> str:
        lines = "\n".join(f"{k}={v}" for k, v in sorted(self.facts.items()))
        return hashlib.sha256(self.text + b"\0" + lines.encode()).hexdigest()


def attributes(payload: bytes) -> list[tuple[int, bytes]]:
    """Entries of an .nv.info section."""
    found, at = [], 0
    while at + 4 <= len(payload):
        form, attribute, value = struct.unpack_from("<BBH", payload, at)
        at += 4
        size = value if form == 4 else 0
        plain = struct.pack("<BH", form, value)
        found.append((attribute, payload[at : at + size] if form == 4 else plain))
        at += size
    return found


def kernels_of(cubin: bytes, where: str) -> dict[str, Code]:
    """Kernels and functions of a module, by mangled name; its data under the section's name."""
    assert cubin[:4] == b"\x7fELF" and cubin[4] == 2
    (shoff,) = struct.unpack_from("<Q", cubin, 0x28)
    entry, count, names_at = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, shoff + i * entry) for i in range(count)]

    def body(h: tuple) -> bytes:
        return b"" if h[1] == NOBITS else cubin[h[4] : h[4] + h[5]]

    def string(table: bytes, at: int) -> str:
        return table[at : table.index(b"\0", at)].decode()

    shstr = body(headers[names_at])
    sections = {string(shstr, h[0]): h for h in headers[1:]}
    symtab, strtab = body(sections[".symtab"]), body(sections[".strtab"])
    symbols = [
        string(strtab, struct.unpack_from("<I", symtab, at)[0]) for at in range(0, len(symtab), 24)
    ]
    codes: dict[str, Code] = {}
    for name, h in sections.items():
        if name.startswith(".text."):
            codes[name[6:]] = Code(where, body(h))
        elif DATA.match(name):
            codes[f"data {name}"] = Code(where, body(h), {"size": str(h[5])})
    for name, h in sections.items():
        prefix, _, kernel = name.rpartition(".")
        if kernel not in codes:
            continue
        code = codes[kernel]
        if prefix in (".rel.text", ".rela.text"):
            step = 24 if prefix == ".rela.text" else 16
            data = body(h)
            for at in range(0, len(data), step):
                offset, info = struct.unpack_from("<QQ", data, at)
                addend = struct.unpack_from("<q", data, at + 16)[0] if step == 24 else 0
                what = f"{info & 0xFFFFFFFF} {symbols[info >> 32]} {addend}"
                key = f"relocation {offset:x}"
                code.facts[key] = code.facts.get(key, "") + f"[{what}]"
        elif prefix == ".nv.info":
            code.facts["info"] = " ".join(
                f"{a:02x}:{p.hex()}" for a, p in attributes(body(h)) if a != EXTERNS
            )
        elif prefix.startswith((".nv.constant", ".nv.shared", ".nv.local")):
            code.facts[prefix] = f"{h[5]} {hashlib.sha256(body(h)).hexdigest()[:16]}"
    if ".nv.info" in sections:
        for attribute, payload in attributes(body(sections[".nv.info"])):
            if attribute in BY_SYMBOL:
                symbol, value = struct.unpack("<II", payload)
                if symbols[symbol] in codes:
                    codes[symbols[symbol]].facts[BY_SYMBOL[attribute]] = str(value)
    return codes


def read_object(path: Path, build: Path, arch: str, cuobjdump: str) -> dict[str, Code]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [cuobjdump, "-xelf", arch, path], cwd=folder, capture_output=True, check=False
        )
        found: dict[str, Code] = {}
        for cubin in sorted(Path(folder).glob("*.cubin")):
            if re.search(rf"\b{arch}\b", cubin.name.replace("_", " ").replace("sm ", "sm_")):
                found |= kernels_of(cubin.read_bytes(), str(path.relative_to(build)))
        return found


def demangled(names: set[str]) -> dict[str, str]:
    ordered = sorted(names)
    out = subprocess.run(
        ["c++filt"], input="\n".join(ordered) + "\n", capture_output=True, text=True, check=True
    )
    lines = out.stdout.splitlines()
    assert len(lines) == len(ordered)
    hashed = re.compile(r"_GLOBAL__N__[0-9a-f]{8}_\d+_\w+?_cu_[0-9a-f]{8}(_\d+)?")
    return {n: hashed.sub("(anonymous namespace)", d) for n, d in zip(ordered, lines, strict=True)}


def read_build(
    build: Path, arch: str, cuobjdump: str, renames: list[tuple[re.Pattern[str], str]]
) -> tuple[dict[str, dict[str, Code]], int]:
    """Codes of a build by name, then by fingerprint; and the number of objects with kernels."""
    objects = sorted(build.rglob("*.cu.o"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        read = list(pool.map(lambda o: read_object(o, build, arch, cuobjdump), objects))
    mangled = {name for codes in read for name in codes}
    mangled |= {
        symbol
        for codes in read
        for code in codes.values()
        for key, value in code.facts.items()
        if key.startswith("relocation")
        for symbol in re.findall(r"_Z\w+", value)
    }
    names = demangled(mangled)

    def shown(name: str) -> str:
        text = names.get(name, name)
        for pattern, replacement in renames:
            text = pattern.sub(replacement, text)
        return text

    builds: dict[str, dict[str, Code]] = collections.defaultdict(dict)
    for codes in read:
        for name, code in codes.items():
            for key in [k for k in code.facts if k.startswith("relocation")]:
                code.facts[key] = re.sub(r"_Z\w+", lambda m: shown(m[0]), code.facts[key])
            builds[shown(name)][code.print] = code
    return builds, sum(bool(codes) for codes in read)


def difference(a: Code, b: Code) -> str:
    """How two codes differ, in a line."""
    step = 16
    pairs = max(len(a.text), len(b.text)) // step
    unlike = sum(a.text[i * step :][:step] != b.text[i * step :][:step] for i in range(pairs))
    parts = []
    if unlike:
        parts.append(
            f"{unlike} of {len(a.text) // step} instructions at their place "
            f"(now {len(b.text) // step})"
        )
    for key in sorted(a.facts.keys() | b.facts.keys()):
        if a.facts.get(key) != b.facts.get(key):
            was, now = a.facts.get(key, "none")[:60], b.facts.get(key, "none")[:60]
            parts.append(f"{key}: {was} -> {now}")
    return "; ".join(parts[:6])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--cuobjdump", default=os.environ.get("CUOBJDUMP", "cuobjdump"))
    parser.add_argument("--rename", action="append", default=[], metavar="REGEX=>TEXT")
    arguments = parser.parse_args()
    if not shutil.which(arguments.cuobjdump):
        raise SystemExit(f"{arguments.cuobjdump} was not found (--cuobjdump, CUOBJDUMP)")
    table = [(re.compile(p), t) for p, t in (r.split("=>", 1) for r in arguments.rename)]
    old, old_objects = read_build(arguments.old, arguments.arch, arguments.cuobjdump, table)
    new, new_objects = read_build(arguments.new, arguments.arch, arguments.cuobjdump, [])
    if not old or not new:
        raise SystemExit("a build folder has no kernels of this architecture")

    same = [n for n in old if n in new and old[n].keys() == new[n].keys()]
    differ = [n for n in old if n in new and old[n].keys() != new[n].keys()]
    gone = {n: codes for n, codes in old.items() if n not in new}
    fresh = {n: codes for n, codes in new.items() if n not in old}
    renamed = []
    by_code = collections.defaultdict(list)
    for name, codes in fresh.items():
        by_code[frozenset(codes)].append(name)
    for name, codes in list(gone.items()):
        if candidates := by_code.get(frozenset(codes)):
            other = candidates.pop(0)
            renamed.append((name, other))
            del gone[name], fresh[other]

    def count(build: dict) -> str:
        return f"{sum(not n.startswith('data') for n in build)} names of kernels"

    print(f"old: {old_objects} objects, {count(old)}; new: {new_objects} objects, {count(new)}")
    print(f"same code: {len(same)}")
    print(f"same code under another name: {len(renamed)}")
    for a, b in sorted(renamed):
        print(f"  {a}\n    now {b}")
    print(f"different: {len(differ)}")
    for name in sorted(differ):
        was = [c for p, c in old[name].items() if p not in new[name]]
        now = [c for p, c in new[name].items() if p not in old[name]]
        print(f"  {name}")
        if len(was) == len(now) == 1:
            print(f"    {was[0].where}: {difference(was[0], now[0])}")
        else:
            print(f"    {len(was)} codes only in {', '.join(c.where for c in was) or 'none'}")
            print(f"    {len(now)} codes only in {', '.join(c.where for c in now) or 'none'}")
    for title, left in (("missing", gone), ("new", fresh)):
        print(f"{title}: {len(left)}")
        for name, codes in sorted(left.items()):
            print(f"  {name}  [{', '.join(c.where for c in codes.values())}]")
    return 1 if differ or gone or fresh else 0


if __name__ == "__main__":
    sys.exit(main())
