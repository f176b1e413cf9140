"""Carry recorded results from digests by path (schema version 1) to digests by content. Used once.

    carry.py compare [--repo REPO] [--results FOLDER]
    carry.py rewrite --now TREE [--generated FOLDER] [--repo REPO] [--results FOLDER]

Both take the commit named in each result file out of the repository and compute, with that
commit's own build step, digests of the old kind, which must be those that the file records; and,
with today's build step (cmake/source_digests.cmake of --now, or of --repo), the digests by content
of that tree and of BASE, the last commit whose program gives digests of the old kind.

compare  names, for each thing measured, the files whose content differs between the commit that
         measured it and BASE: changes that the old digest overlooked, since it was equal.
rewrite  replaces the digest of everything a file measured by the digest by content of TREE. It
         refuses (and writes nothing) when a recorded digest is not what BASE gives: such a row was
         stale before. What a file does not measure but lists in provenance.sources, and the
         harness's digest, become the digests by content of the commit that made the file.
         Schema versions are left alone.

Files that lay in harness/ at BASE and belong to the ground today (GROUND) are put where they lie
today before digests by content are computed, so that they count on both sides.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BASE = "1aae531"

GROUND = {
    "harness/host_device.hpp": "variants/device/host_device.hpp",
    "harness/gpu/cuda.hpp": "variants/device/cuda.hpp",
    "harness/gpu/cuda.cpp": "variants/device/cuda.cpp",
    "harness/permutation.hpp": "inputs/permutation.hpp",
    "harness/permutation.cpp": "inputs/permutation.cpp",
    "harness/curve.hpp": "microbench/curve.hpp",
    "harness/curve.cpp": "microbench/curve.cpp",
}
SOURCES = (".cpp", ".cu", ".cuh", ".hpp")

Digests = dict[str, str]


@dataclass
class Tree:
    """A commit's digests of both kinds; of the files' contents by name of what covers them."""

    old: Digests
    new: Digests
    contents: dict[str, dict[str, str]]


def run_script(script: Path, root: Path, out: Path, options: str = "") -> None:
    subprocess.run(
        ["cmake", f"-DROOT={root}", f"-DOUTPUT={out}", f"-DOPTIONS={options}", "-P", script],
        check=True,
        capture_output=True,
    )


def read_digests(generated: Path) -> Digests:
    digests: Digests = {}
    for name in ("source_digests.inc", "microbenchmark_digests.inc"):
        digests |= dict(re.findall(r'\{"([^"]+)", "(\w{64})"\}', (generated / name).read_text()))
    digests["harness"] = (generated / "harness_digest.inc").read_text().strip().strip('"')
    return digests


def read_contents(generated: Path) -> dict[str, dict[str, str]]:
    contents: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for line in (generated / "source_manifest.txt").read_text().splitlines():
        name, content, path = line.split(" ", 2)
        contents[name][path] = content
    return contents


def read_tree(repo: Path, commit: str, script: Path, options: str, scratch: Path) -> Tree:
    """Digests of a commit of the old layout."""
    root = scratch / commit
    root.mkdir()
    archive = subprocess.Popen(["git", "-C", repo, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", root], stdin=archive.stdout, check=True)
    if archive.wait() != 0:
        raise SystemExit(f"commit {commit} is not in {repo}")

    run_script(root / "cmake" / "source_digests.cmake", root, scratch / f"{commit}-old")
    for was, now in GROUND.items():
        if (root / was).exists():
            (root / now).parent.mkdir(parents=True, exist_ok=True)
            (root / was).rename(root / now)
    for path in (p for p in root.rglob("*") if p.suffix in SOURCES):
        text = path.read_text()
        for was, now in GROUND.items():
            text = text.replace(f'#include "{was}"', f'#include "{now}"')
        path.write_text(text)
    run_script(script, root, scratch / f"{commit}-new", options)
    return Tree(
        old=read_digests(scratch / f"{commit}-old"),
        new=read_digests(scratch / f"{commit}-new"),
        contents=read_contents(scratch / f"{commit}-new"),
    )


def measured(file: dict) -> dict[str, list[dict]]:
    """Everything with a digest in a result file: its name and the objects that carry one."""
    found: dict[str, list[dict]] = collections.defaultdict(list)
    for group in file.get("groups", []):
        for row in group["rows"]:
            found[row["variant"]].append(row)
    for benchmark in file.get("microbenchmarks", []):
        found[benchmark["name"]].append(benchmark)
    for entry in file.get("entries", []):
        found[entry["variant"]].append(entry)
    return found


def refusals(path: Path, file: dict, base: Digests, trees: dict[str, Tree]) -> list[str]:
    """Why a file cannot be carried over, one line each."""
    reasons = []
    for name, carriers in measured(file).items():
        for digest in {carrier["source_digest"] for carrier in carriers}:
            if digest != base.get(name):
                reasons.append(f"{path.name}: {name} was measured with {digest[:12]}, not {BASE}'s")
    if "provenance" in file:
        at = file["provenance"]
        tree = trees[at["commit"]]
        if at["dirty"]:
            reasons.append(f"{path.name}: made from a tree with changes that are in no commit")
        if at["sources"] | {"harness": at["harness_digest"]} != tree.old:
            reasons.append(f"{path.name}: its commit {at['commit'][:7]} gives other digests")
    return reasons


def compare(files: dict[Path, dict], trees: dict[str, Tree], base: Tree) -> None:
    for path, file in files.items():
        if "provenance" not in file:
            print(f"\n## {path.name}: names no commit ({len(measured(file))} things measured)")
            continue
        commit = file["provenance"]["commit"]
        tree = trees[commit]
        names = sorted(measured(file))
        print(f"\n## {path.name}, made by {commit[:7]}: {len(names)} things measured")
        by_difference: dict[tuple[str, ...], list[str]] = collections.defaultdict(list)
        for name in names:
            was, now = tree.contents[name], base.contents[name]
            lines = [
                f"{p} ({'differs' if p in was and p in now else 'gone' if p in was else 'new'})"
                for p in sorted(was.keys() | now.keys())
                if was.get(p) != now.get(p)
            ]
            assert bool(lines) == (tree.new[name] != base.new[name])
            by_difference[tuple(lines)].append(name)
        for lines, alike in by_difference.items():
            print(f"- {', '.join(alike)}: {'same content' if not lines else ''}")
            for line in lines:
                print(f"    {line}")
        was, now = tree.contents["harness"], base.contents["harness"]
        other = sorted(p for p in was.keys() | now.keys() if was.get(p) != now.get(p))
        print(f"- harness: {', '.join(other) or 'same content'}")


def rewrite(
    files: dict[Path, dict], trees: dict[str, Tree], base: Digests, now: Digests
) -> dict[Path, str]:
    """The files' new texts."""
    texts = {}
    for path, file in files.items():
        names = measured(file)
        for name, carriers in names.items():
            for carrier in carriers:
                carrier["source_digest"] = now[name]
        if "provenance" in file:
            at = file["provenance"]
            then = trees[at["commit"]].new
            at["sources"] = {
                # What was not measured here may have changed since: then it is what it was.
                name: now[name] if digest == base.get(name) and name in now else then[name]
                for name, digest in at["sources"].items()
            }
            at["harness_digest"] = then["harness"]
        texts[path] = json.dumps(file, ensure_ascii=False)
    return texts


def replace_digests(text: str, was: dict, now: dict) -> str:
    """Keep a file's own layout: every digest is replaced in place, in order."""
    digest = re.compile(r'(?<=")[0-9a-f]{64}(?=")')
    old_order = digest.findall(json.dumps(was))
    new_order = digest.findall(json.dumps(now))
    assert digest.findall(text) == old_order and len(old_order) == len(new_order)
    replacements = iter(new_order)
    return digest.sub(lambda _: next(replacements), text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", choices=("compare", "rewrite"))
    parser.add_argument("--repo", type=Path, default=Path.cwd())
    parser.add_argument("--results", type=Path, help="default: results/h200 of --now or --repo")
    parser.add_argument("--now", type=Path, help="the tree whose digests the files shall carry")
    parser.add_argument("--generated", type=Path, help="generated/provenance of a build of --now")
    arguments = parser.parse_args()
    if arguments.task == "rewrite" and not arguments.now:
        parser.error("rewrite needs --now")
    tree = arguments.now or arguments.repo
    results = arguments.results or tree / "results" / "h200"
    script = tree / "cmake" / "source_digests.cmake"
    texts = {path: path.read_text() for path in sorted(results.glob("*.json"))}
    files = {path: json.loads(text) for path, text in texts.items()}

    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        if arguments.now:
            generated = arguments.generated
            if not generated:
                build = scratch / "build"
                for command in (
                    ["cmake", "--preset", "cpu", "-S", tree, "-B", build],
                    ["cmake", "--build", build, "--target", "harness_digests"],
                ):
                    subprocess.run(command, check=True, capture_output=True, cwd=tree)
                generated = build / "generated" / "provenance"
            options = (generated / "code_options.txt").read_text().strip()
            now = read_digests(generated)
        else:
            options, now = "-std=c++17 --expt-relaxed-constexpr -lineinfo -O3 -DNDEBUG", {}
        commits = {f["provenance"]["commit"] for f in files.values() if "provenance" in f}
        trees = {c: read_tree(arguments.repo, c, script, options, scratch) for c in commits}
        base = read_tree(arguments.repo, BASE, script, options, scratch)

    reasons = [r for path, file in files.items() for r in refusals(path, file, base.old, trees)]
    if now:
        reasons += [
            f"{path.name}: {name} is no longer in the tree"
            for path, file in files.items()
            for name in measured(file)
            if name not in now
        ]
    for reason in reasons:
        print(reason, file=sys.stderr)
    if arguments.task == "compare":
        compare(files, trees, base)
        return 0
    if reasons:
        print("nothing was written", file=sys.stderr)
        return 1
    for path, text in rewrite(files, trees, base.old, now).items():
        path.write_text(replace_digests(texts[path], json.loads(texts[path]), json.loads(text)))
        print(f"{path.name}: carried over")
    return 0


if __name__ == "__main__":
    sys.exit(main())
