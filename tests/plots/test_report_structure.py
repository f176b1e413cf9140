"""The report looks as it did when it was last reviewed: every chapter, on a screen and on a
phone, light and dark.

The reference is numbers, not pictures: for each chapter how high it is and how bright its parts
are. Who changes the look on purpose looks at the page, records the reference anew with
AMASIA_UPDATE_GOLDEN=1, and reads the difference.

Numbers of one machine hold on another one, because the differences are removed. All text is in the
font that matplotlib ships, and parts are many letters large. A grey box replaces each figure:
figures have tests of their own. Long tables are cut, so that a
page is not higher than a window can be.
"""

import base64
import json
import os
from pathlib import Path
from typing import Any

import browser
import matplotlib
import matplotlib.image
import numpy as np
import pytest

DARK = "--blink-settings=preferredColorScheme=0"
HEIGHT = 15000  # of the window, in which all of the page stands at once

PART = 110  # pixels, about six lines
COLUMNS = {1280: 12, 390: 4}
# How much the brightness of a part (of 255) and the height of a chapter may differ: a word more or
# less, or letters that another machine draws a little bolder. A line more in a part of six is seen.
TOLERANCE, HEIGHT_TOLERANCE = 14, 0.06

# With all that is drawn once it comes near. What the script made of the page is returned, too: a
# picture of that needs no script, of which nobody knows how far it has come.
_CHAPTERS = """
  window.dispatchEvent(new Event("beforeprint"));
  await document.fonts.load("15px probe");
  await document.fonts.ready;
  await wait(200);
  const top = (e) => e.getBoundingClientRect().top + scrollY;
  const found = [["header", 0, top(document.querySelector("main"))]];
  const all_ = all("main section");
  for (const section of all_) {
    if (!section.getClientRects().length) continue;
    const inner = all("section", section).filter((s) => s.getClientRects().length).map(top);
    const box = section.getBoundingClientRect();
    found.push([section.id, box.top + scrollY, Math.min(box.bottom + scrollY, ...inner)]);
  }
  const page = document.documentElement.scrollHeight;
  const copy = document.documentElement.cloneNode(true);
  all("script, noscript, #outcome", copy).forEach((e) => e.remove());
  all("figure img", copy).forEach((img) => img.removeAttribute("src"));
  return { found, page, html: copy.outerHTML };
"""


def _style() -> str:
    font = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    content = base64.b64encode(font.read_bytes()).decode()
    return (
        "<style>@font-face { font-family: probe; "
        f"src: url(data:font/ttf;base64,{content}); }}\n"
        "* { font-family: probe !important; }\n"
        "figure:has(img) { background: #808080 !important; height: 120px; min-height: 0; }\n"
        ".wide.tall { max-height: 9rem; }\n"
        "figure img { display: none !important; }</style>"
    )


def prepared(page: Path, fault: str = "") -> Path:
    """The page as it is looked at; ``fault`` is CSS that breaks it."""
    text = page.read_text(encoding="utf-8")
    style = _style() + (f"<style>{fault}</style>" if fault else "")
    path = page.with_name("structure.html")
    path.write_text(text.replace("</head>", style + "</head>", 1), encoding="utf-8")
    return path


def _parts(picture: np.ndarray, rows: int, columns: int) -> list[list[int]]:
    """The mean brightness of as many equal parts."""
    ys = np.linspace(0, picture.shape[0], rows + 1).round().astype(int)
    xs = np.linspace(0, picture.shape[1], columns + 1).round().astype(int)
    return [
        [
            round(255 * float(picture[ys[i] : ys[i + 1], xs[j] : xs[j + 1]].mean()))
            for j in range(columns)
        ]
        for i in range(rows)
    ]


def _pictures(page: Path, width: int, *arguments: str) -> dict[str, np.ndarray]:
    """Each chapter of a prepared page as a picture."""
    found, console = browser.look(page, _CHAPTERS, width, HEIGHT)
    assert console == []
    assert found["page"] <= HEIGHT, "the window does not hold the whole page"
    made, out = page.with_name("made.html"), page.with_suffix(".png")
    made.write_text("<!DOCTYPE html>" + found["html"], encoding="utf-8")
    of_window = {"width": width, "height": HEIGHT}
    assert browser.written(made, "screenshot", out, *arguments, **of_window) == []
    picture = matplotlib.image.imread(out)[:, :width, :3].mean(axis=-1)
    return {
        name: picture[round(top) : round(bottom)]
        for name, top, bottom in found["found"]
        if bottom - top >= 1
    }


def chapters(page: Path, width: int, *arguments: str) -> dict[str, Any]:
    """The chapters of a prepared page in a window of that width: their height, and their parts as
    rows of brightness, 0 to 255, from the top."""
    return {
        name: {
            "height": len(of), "parts": _parts(of, max(1, round(len(of) / PART)), COLUMNS[width]),
        }
        for name, of in _pictures(page, width, *arguments).items()
    }  # fmt: skip


def differences(page: Path, width: int, reference: dict[str, Any], *arguments: str) -> list[str]:
    """What looks otherwise than the reference, a line each."""
    shown = _pictures(page, width, *arguments)
    said = [f"{name}: new" for name in shown.keys() - reference.keys()]
    for name, wanted in reference.items():
        if name not in shown:
            said.append(f"{name}: gone")
            continue
        height = len(shown[name])
        if abs(height - wanted["height"]) > max(HEIGHT_TOLERANCE * wanted["height"], 30):
            said.append(f"{name}: {height} px high instead of {wanted['height']}")
            continue
        rows = len(wanted["parts"])
        found = np.array(_parts(shown[name], rows, COLUMNS[width]))
        off = np.abs(found - np.array(wanted["parts"]))
        if off.max() > TOLERANCE:
            row, column = np.unravel_index(off.argmax(), off.shape)
            said.append(
                f"{name}: part {row + 1} of {rows} from the top, {column + 1} of {COLUMNS[width]} "
                f"from the left has brightness {found[row, column]} instead of "
                f"{wanted['parts'][row][column]}"
            )
    return said


def written(found: dict[str, dict[str, Any]]) -> str:
    """References as JSON, a chapter a line."""
    looks = []
    for look, of in found.items():
        lines = [
            f"    {json.dumps(n)}: {json.dumps(c, separators=(',', ':'))}" for n, c in of.items()
        ]
        looks.append(f"  {json.dumps(look)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(looks) + "\n}\n"


pytestmark = pytest.mark.skipif(browser.find() is None, reason=browser.MISSING)

REFERENCE = Path(__file__).with_name("report_structure.json")
LOOKS = {
    f"{width} px, {theme}": (width, arguments)
    for width in (1280, 390)
    for theme, arguments in (("light", ()), ("dark", (DARK,)))
}


@pytest.fixture(scope="module")
def page(write_page, tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("structure"))


@pytest.fixture(scope="module")
def reference(page):
    if os.environ.get("AMASIA_UPDATE_GOLDEN"):
        it = prepared(page)
        found = {
            name: chapters(it, width, *arguments) for name, (width, arguments) in LOOKS.items()
        }
        REFERENCE.write_text(written(found), encoding="utf-8")
    return json.loads(REFERENCE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("look", LOOKS)
def test_every_chapter_looks_as_it_did(page, reference, look):
    width, arguments = LOOKS[look]
    assert differences(prepared(page), width, reference[look], *arguments) == []


# CSS that breaks the page, and the chapters of which something must be said; together, because a
# browser takes its time, and apart where they break the same chapter.
FAULTS = {
    "one": {
        "#method { display: none }": "method: gone",
        "#generations figure { display: none }": "generations: ",
        "nav { position: absolute; top: 0 }": "header: ",  # over the title
        ".heat td { background: none !important }": "answer: ",
        "#provenance * { color: var(--page) }": "provenance: ",
    },
    "other": {
        "#method > :not(h2) { display: none }": "method: ",
        ".heat { width: 60% }": "answer: ",
        "#generations > :not(h2) { visibility: hidden }": "generations: ",
    },
}


@pytest.mark.parametrize(
    ("faults", "look"),
    [("one", "1280 px, light"), ("one", "390 px, dark"), ("other", "1280 px, light")],
)
def test_planted_faults_are_seen(page, reference, faults, look):
    width, arguments = LOOKS[look]
    it = prepared(page, "\n".join(FAULTS[faults]))
    found = differences(it, width, reference[look], *arguments)
    for css, said in FAULTS[faults].items():
        assert any(line.startswith(said) for line in found), (css, found)
    whole = {"h200-apps", "microbenchmarks", "choose"}  # nothing is said of these
    assert not [line for line in found if line.split(":")[0] in whole]
