"""What comments and documents point to: files of this tree, and sections of its documents.

`broken(root)` lists every pointer that leads nowhere, each as file:line with what was cited.
"""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Recorded data, not prose.
DATA = re.compile(r"(results|tests/golden|inputs/published|inputs/specifications)/|.*\.(svg|json)$")
# Folders that are none of the tree's.
MADE = {".git", ".venv", ".cuda", ".ccache", "build", "out", "__pycache__"}
MADE |= {".pytest_cache", ".ruff_cache"}
SLASHES = {".hpp", ".cpp", ".cu", ".cuh"}
HASHES = {".sh", ".cmake", ".toml", ".yml", ".yaml", ".cff"}
HASH_NAMES = {"CMakeLists.txt", "run", ".clang-tidy", ".clang-format", ".gitignore"}

TOPS = "apps|cmake|docs|harness|inputs|microbench|plots|results|schema|scripts|tests|variants"
PATH = re.compile(rf"(?<![\w/.<>*$}}-])((?:{TOPS}|\.ci|\.github)/[\w./<>*-]*)")
NAME = re.compile(r"(?<![\w/.<>*$}-])([\w*<>.-]+\.(?:hpp|cpp|cuh|cu|py|md|cmake|csv|j2))\b")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A document and a section of it, as in: docs/methodology.md, "A sample". Names in capitals are
# documents without their suffix, a folder's own README before the one at the top of the tree.
SECTION = re.compile(r'\b((?:docs/)?[\w-]+\.md|[A-Z]{6,})[,:] "([^"]+)"')
TABLE = re.compile(r"\b([A-Z]{6,}): the (?:table|section)\b")
# Files of other projects, those that a script writes, and those of who follows docs/bench.md.
FOREIGN = {"compare.py", "report.csv", "summary.md"}
FOREIGN |= {"saxpy_old.cu", "saxpy_new.cu", "sum.cu"}
IMPLIED = (".hpp", ".cpp", ".cu", ".cuh", ".py")


@dataclass
class Text:
    """Prose in one piece, comment signs taken off, and the line each part of it stands on."""

    parts: list[tuple[int, str]] = field(default_factory=list)

    def joined(self) -> str:
        return " ".join(part for _, part in self.parts)

    def line(self, offset: int) -> int:
        for number, part in self.parts:
            if offset <= len(part):
                return number
            offset -= len(part) + 1
        return self.parts[-1][0]


def _blocks(lines: Iterator[tuple[int, str]]) -> Iterator[Text]:
    """Comments of adjacent lines belong together."""
    block, previous = Text(), -1
    for number, text in lines:
        if number != previous + 1 and block.parts:
            yield block
            block = Text()
        block.parts.append((number, text.strip()))
        previous = number
    if block.parts:
        yield block


def _python(text: str) -> Iterator[tuple[int, str]]:
    """Comments and docstrings, by line."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#")
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body or not isinstance(body[0], ast.Expr):
            continue
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            for offset, line in enumerate(value.value.splitlines()):
                yield value.lineno + offset, line


def prose(path: Path) -> Iterator[Text]:
    """Comments of a source, or all of a document."""
    text = path.read_text(encoding="utf-8")
    numbered = list(enumerate(text.splitlines(), 1))
    if path.suffix == ".py":
        yield from _blocks(iter(sorted(_python(text))))
    elif path.suffix == ".md":
        yield from _blocks((n, line) for n, line in numbered if line.strip())
    else:
        sign = "//" if path.suffix in SLASHES else "#"
        found = ((n, re.match(rf".*?(?:^|\s){sign}[/!<]*(.*)", line)) for n, line in numbered)
        yield from _blocks((n, match[1]) for n, match in found if match)


def _headings(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.lstrip("#").strip() for line in lines if line.startswith("#")]


def _anchor(heading: str) -> str:
    """As GitHub makes it: lower case, punctuation off, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _anchors(path: Path) -> set[str]:
    """What a link may lead to in a document: its headings, and places that name themselves."""
    named = re.findall(r'<a id="([^"]+)">', path.read_text(encoding="utf-8"))
    return {*map(_anchor, _headings(path)), *named}


class Tree:
    """The files of a tree, and what of a cited name is among them."""

    def __init__(self, root: Path, files: list[str]) -> None:
        self.root, self.files = root, files
        self.names = {file.rsplit("/", 1)[-1] for file in files}
        folders = {str(parent) for file in files for parent in Path(file).parents}
        self.known = "\n".join([*files, *(folder for folder in folders if folder != ".")])

    def has_path(self, cited: str) -> bool:
        """A file or folder; `*` and `<app>` stand for any name, a source may lack its suffix."""
        pattern = re.escape(re.sub(r"<\w+>", "*", cited.rstrip("./-"))).replace(r"\*", "[^/\n]*")
        if "<" in cited and cited.rsplit("/", 1)[-1] in self.names:
            return True  # a rule for files that need not be there
        suffixes = "|".join(map(re.escape, IMPLIED))
        return bool(re.search(rf"^{pattern}(?:{suffixes})?$", self.known, re.MULTILINE))

    def has_name(self, cited: str) -> bool:
        pattern = re.escape(re.sub(r"<\w+>", "*", cited)).replace(r"\*", ".*")
        if cited in FOREIGN:
            return True
        return any(re.fullmatch(pattern, name) for name in self.names)

    def document(self, cited: str, folder: Path) -> Path | None:
        """docs/methodology.md, methodology.md and README are all found."""
        name = cited if cited.endswith(".md") else f"{cited}.md"
        for path in (folder / name, self.root / name, self.root / "docs" / name):
            if path.is_file():
                return path
        return None


def _complaints(tree: Tree, file: str, text: str) -> Iterator[tuple[int, str]]:
    """Offset and complaint of each pointer of a piece of prose."""
    # What a document shows how to make need not exist here.
    made = set(re.findall(r"file=(\S+)", (tree.root / file).read_text(encoding="utf-8")))
    made |= {name.rsplit("/", 1)[-1] for name in made}
    made |= {str(parent) for name in made for parent in Path(name).parents}
    for match in PATH.finditer(text):
        if match[1] not in made and not tree.has_path(match[1]):
            yield match.start(1), f"no file or folder {match[1]}"
    for match in NAME.finditer(text):
        if "/" not in match[1] and match[1] not in made and not tree.has_name(match[1]):
            yield match.start(1), f"no file is named {match[1]}"
    folder = (tree.root / file).parent
    for match in SECTION.finditer(text):
        document = tree.document(match[1], folder)
        if document is None:
            yield match.start(), f"no document {match[1]}"
        elif not any(heading.startswith(match[2]) for heading in _headings(document)):
            yield match.start(), f'{match[1]} has no section "{match[2]}"'
    for match in TABLE.finditer(text):
        if tree.document(match[1], folder) is None:
            yield match.start(), f"no document {match[1]}"
    if file.endswith(".md"):
        for match in LINK.finditer(text):
            target, _, anchor = match[1].partition("#")
            if ":" in target:
                continue
            path = folder / target if target else tree.root / file
            if not path.exists():
                yield match.start(1), f"the link {match[1]} leads nowhere"
            elif anchor and anchor not in _anchors(path):
                yield match.start(1), f"the link {match[1]} names no section"


def files_of(root: Path) -> list[str]:
    """The files of the tree, relative to it, without what builds and tools leave there."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in MADE]
        found += [Path(folder, name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def broken(root: Path, files: list[str]) -> list[str]:
    """Pointers to nothing in the comments and documents among `files`, each as file:line: what."""
    tree = Tree(root, files)
    readable = SLASHES | HASHES | {".py", ".md"}
    found = []
    for file in files:
        path = root / file
        if DATA.match(file) or not (path.suffix in readable or path.name in HASH_NAMES):
            continue
        for text in prose(path):
            for offset, complaint in _complaints(tree, file, text.joined()):
                found.append(f"{file}:{text.line(offset)}: {complaint}")
    return found
