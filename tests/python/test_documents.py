"""What comments and documents point to exists: files of this tree, and sections of its documents.
Facts that stand in two places agree.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.process import ROOT, files_of

# Recorded data, history, which names what is gone, and tests, which name files that they make.
FOLDERS = "results|tests/golden|tests/python|inputs/published|inputs/specifications"
DATA = re.compile(rf"CHANGELOG|({FOLDERS})/|.*\.(svg|json)$")
SLASHES = {".hpp", ".cpp", ".cu", ".cuh"}
HASHES = {".py", ".sh", ".cmake", ".toml", ".yml", ".yaml", ".cff"}
HASH_NAMES = {"CMakeLists.txt", "run", ".clang-tidy", ".clang-format", ".gitignore"}

TOPS = "apps|cmake|docs|harness|inputs|microbench|plots|results|schema|scripts|tests|variants"
PATH = re.compile(rf"(?<![\w/.<>*$}}-])((?:{TOPS}|\.ci|\.github)/[\w./<>*-]*)")
NAME = re.compile(r"(?<![\w/.<>*$}-])([\w*<>.-]+\.(?:hpp|cpp|cuh|cu|py|md|cmake|csv))\b")
# Files of other projects, of commands, and of readers of docs/your-kernel.md.
FOREIGN = {"compare.py", "report.csv", "summary.md", "saxpy_old.cu", "saxpy_new.cu", "sum.cu"}
IMPLIED = (".hpp", ".cpp", ".cu", ".cuh", ".py")


def prose(file: str, text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines of a document, or of a source its comments."""
    path = Path(file)
    sign = r"//[/!<]*" if path.suffix in SLASHES else "#"
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix == ".md":
            yield number, line
        elif comment := re.match(rf".*?(?:^|\s){sign}(.*)", line):
            yield number, comment[1]


def anchors(path: Path) -> set[str]:
    """What a link may lead to in a document: headings as GitHub names them, and named places."""
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ *(.*)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


def _found(cited: str, any_name: str, ending: str, lines: str) -> bool:
    """Whether a line is what is cited, in which `*` and `<app>` stand for any name."""
    pattern = re.escape(re.sub(r"<\w+>", "*", cited.rstrip("./-"))).replace(r"\*", any_name)
    return re.search(f"^{pattern}{ending}$", lines, re.MULTILINE) is not None


def test_every_file_and_section_that_is_named_exists() -> None:
    files = files_of(ROOT)
    folders = {str(parent) for file in files for parent in Path(file).parents} - {"."}
    known, names = "\n".join([*files, *folders]), {file.rsplit("/", 1)[-1] for file in files}
    suffixes = "|".join(map(re.escape, IMPLIED))

    @cache
    def there(cited: str) -> bool:
        return _found(cited, "[^/\n]*", f"(?:{suffixes})?", known)

    @cache
    def named(cited: str) -> bool:
        return _found(cited, ".*", "", "\n".join(names))

    found = []
    for file in (file for file in files if not DATA.match(file)):
        kind, name = Path(file).suffix, Path(file).name
        if kind not in {*SLASHES, *HASHES, ".md"} and name not in HASH_NAMES:
            continue
        text = (ROOT / file).read_text(encoding="utf-8")
        # What a document shows how to make need not exist here.
        made = set(re.findall(r"file=(\S+)", text))
        made |= {part for name in made for part in (Path(name).name, str(Path(name).parent))}
        for number, line in prose(file, text):
            where = f"{file}:{number}: "
            for cited in set(PATH.findall(line)) - made:
                a_rule = "<" in cited and cited.rsplit("/", 1)[-1] in names
                if not a_rule and not there(cited):
                    found.append(f"{where}no file or folder {cited}")
            for cited in set(NAME.findall(line)) - made - FOREIGN:
                if not named(cited):
                    found.append(f"{where}no file is named {cited}")
            for target, anchor in re.findall(r"\]\(([^)\s:#]*)(?:#([^)\s]*))?\)", line):
                linked = (ROOT / file).parent / target if target else ROOT / file
                if file.endswith(".md") and not linked.exists():
                    found.append(f"{where}the link {target} leads nowhere")
                elif file.endswith(".md") and anchor and anchor not in anchors(linked):
                    found.append(f"{where}the link {target} names no section {anchor}")
    assert found == []


# --- The index ------------------------------------------------------------------------------------


def test_the_index_names_every_document_and_each_says_what_the_reader_can_do() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    index = pages.pop("README.md")
    for name in [*pages, "../CONTRIBUTING.md", "../CHANGELOG.md"]:
        assert f"]({name})" in index, f"docs/README.md has no link to {name}"
    assert "](docs/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    del pages["reproduction.md"]  # generated
    assert len(pages) <= 15
    for name, text in pages.items():
        assert text.split("\n")[2].startswith("After this page "), name


# --- Strategies -----------------------------------------------------------------------------------


def test_the_table_of_strategies_is_that_of_the_header() -> None:
    header = (ROOT / "variants/strategy.hpp").read_text(encoding="utf-8")
    document = (ROOT / "docs/strategies.md").read_text(encoding="utf-8")
    row = re.compile(r'\{"(\w+)",\s*(\d+),\s*(\d+),\s*\{([^}]*)\}(?:,\s*\{([^}]*)\})?')
    rows = row.findall(header)
    assert len(rows) == len(re.findall(r'^    \{"\w+",', header, re.MULTILINE)) > 0
    for name, runs_from, _, required, forbidden in rows:
        line = re.search(rf"^\| `{name}` .*$", document, re.MULTILINE)
        assert line, f"docs/strategies.md has no row {name}"
        cells = line[0].split("|")
        for words, cell in ((required, cells[4]), (forbidden, cells[5])):
            wanted = sorted(w for part in re.findall(r'"([^"]+)"', words) for w in part.split("|"))
            assert sorted(re.findall(r"`([^`]+)`", cell)) == wanted, f"{name}: {cell}"
        assert (f"sm_{runs_from} and newer" in cells[6]) == (runs_from != "0"), name
