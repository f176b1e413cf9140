"""The report as a reader has it: in a browser, on a phone, in the dark, on paper, by keyboard."""

import re

import browser
import planted
import pytest

from plots.data.load import load
from plots.report.page import render

pytestmark = pytest.mark.skipif(browser.find() is None, reason=browser.MISSING)

# Elements that reach beyond the window, but for those inside something that scrolls; ids that are
# there twice, and figures that are not drawn.
FAULTS = """
  await openAll();
  const width = document.documentElement.clientWidth;
  const scrolls = (e) => e && (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX)
    || scrolls(e.parentElement));
  const wide = all("body *")
    .filter((e) => e.getBoundingClientRect().right > width + 1 && !scrolls(e.parentElement))
    .map((e) => e.tagName + " " + e.textContent.slice(0, 60));
  const ids = all("[id]").map((e) => e.id);
  const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
  await Promise.all(all("figure img").map((img) => img.decode()));
  const drawn = (figure) => figure.querySelector("img")?.naturalWidth > 200;
  const empty = all("figure[data-figure]").filter((e) => !drawn(e)).map((e) => e.dataset.figure);
  return { width, page: document.documentElement.scrollWidth, wide, twice, empty };
"""


@pytest.fixture(scope="module")
def page(write_page, tmp_path_factory):
    """A page with all that a page can have."""
    groups = [
        planted.group("lud", {"n": n, "distribution": f"{kind}_" * 12}, 1.0)
        for n, kind in ((512, "uniform"), (1024, "skewed"))
    ]
    more = {"paper": planted.paper_like(), "long": planted.document(groups)}
    return write_page(tmp_path_factory.mktemp("page"), **more)


def look(page, script, width=1280, height=900):
    """What the script found, with nothing on the console."""
    found, console = browser.look(page, script, width, height)
    assert console == []
    return found


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen_and_figures_are_drawn(page, width):
    found = look(page, FAULTS, width, 844)
    assert found == {"width": width, "page": width, "wide": [], "twice": [], "empty": []}


def test_tables_sort_filter_and_choose(page):
    found = look(
        page,
        """
  await openAll();
  const view = all(".view").find((v) => v.dataset.label.startsWith("Rows, "));
  const count = () => view.querySelector("[role=status]").textContent;
  const column = (name) => all("th", view).findIndex((th) => th.textContent === name);
  const rows = () => all("tbody tr:not(.prose)", view); // without the reasons below them
  const cells = (name) => rows().map((r) => r.cells[column(name)].textContent);
  const gains = () => cells("speed-up").filter((t) => t).map((t) => parseFloat(t.slice(2)));
  const everything = count();
  const search = view.querySelector("input");
  search.value = "tma"; search.dispatchEvent(new Event("input"));
  const filtered = [count(), [...new Set(cells("strategy"))]];
  const choose = all("label", view).find((l) => l.textContent.startsWith("role")).children[0];
  choose.value = [...choose.options].find((o) => o.textContent === "best").value;
  choose.dispatchEvent(new Event("change"));
  const roles = [...new Set(cells("role"))];
  const head = all("th", view)[column("speed-up")];
  head.querySelector("button").click();
  const down = gains(), said = head.getAttribute("aria-sort");
  head.querySelector("button").click();
  return { everything, filtered, roles, down, up: gains(), said };
""",
    )
    total = int(found["everything"].split()[-2])
    assert found["everything"] == f"{total} of {total} rows" and total > 100
    few, strategies = found["filtered"]
    assert 0 < int(few.split()[0]) < total and strategies == ["tma"]
    assert found["roles"] == ["best"] and found["said"] == "descending"
    assert found["down"] == sorted(found["down"], reverse=True) and len(set(found["down"])) > 1
    assert found["up"] == sorted(found["up"])


@pytest.mark.parametrize("width", [390, 1280])
def test_the_navigation_leads_to_every_heading_in_order(page, width):
    """No heading is hidden by the navigation, and a closed fold opens."""
    found = look(
        page,
        """
  const nav = document.querySelector("nav"), reached = [];
  const links = [...all("a", nav), ...all(".doors a")];
  for (const link of links.filter((a) => a.getClientRects().length)) {
    window.scrollTo(0, 0);
    link.click();
    await wait(5);
    const target = document.getElementById(link.hash.slice(1));
    const heading = target.querySelector("h2, h3");
    const at = heading.getBoundingClientRect();
    reached.push({ label: link.textContent, heading: heading.textContent,
      open: !target.closest("details") || target.closest("details").open,
      seen: Boolean(at.height && at.top >= nav.getBoundingClientRect().bottom - 1
        && at.bottom <= innerHeight) });
  }
  const tops = all("nav a").filter((a) => a.getClientRects().length)
    .map((e) => e.getBoundingClientRect().top);
  return { reached, inOneLine: Math.max(...tops) - Math.min(...tops) < 8 };
""",
        width,
    )
    assert [r for r in found["reached"] if not (r["open"] and r["seen"])] == []
    assert found["inOneLine"]
    labels = [r["label"] for r in found["reached"]]
    order = ["answer", "nw", "generations", "papers", "microbenchmarks", "method", "provenance"]
    places = [labels.index(label) for label in order]
    assert places == sorted(places)
    assert {r["label"]: r["heading"] for r in found["reached"]}["nw"] == "nw"


def test_the_reader_switches_between_gpus(page):
    """One is shown at a time, in the answer, the apps and the microbenchmarks; a link into another
    one's part shows that."""
    found = look(
        page,
        """
  const shown = () => [...new Set(all("[data-gpu]").filter((e) => e.getClientRects().length)
    .map((e) => e.dataset.gpu))];
  const [first, second] = all("#switch button"), before = shown();
  second.click();
  const after = shown(), pressed = second.getAttribute("aria-pressed");
  location.hash = "#h200-nw";
  await wait(50);
  return { before, after, pressed, again: shown() };
""",
    )
    one, other = ["NVIDIA H200"], ["NVIDIA A100-SXM4-40GB"]
    assert found == {"before": one, "after": other, "pressed": "true", "again": one}


@pytest.mark.parametrize("width", [390, 1280])
def test_no_text_of_a_table_is_cut(page, width):
    """Reasons and remarks stand below their row over its width, other long texts in several lines;
    what follows is filtered by them as before."""
    found = look(
        page,
        """
  await openAll();
  const views = all(".view"), cut = [];
  for (const cell of all(".view td, .view td p").filter((e) => e.getClientRects().length)) {
    const how = getComputedStyle(cell);
    const hides = how.overflowX !== "visible" && cell.scrollWidth > cell.clientWidth + 1;
    if (hides || how.textOverflow === "ellipsis") cut.push(cell.textContent.slice(0, 60));
  }
  const beyond = all(".prose p").filter((p) => p.getBoundingClientRect().right > innerWidth + 1);
  const view = views.find((v) => v.dataset.label.startsWith("Rows without a time"));
  const reasons = all("p[data-column=reason]", view).map((p) => p.textContent);
  const heads = all("th", view).map((th) => th.textContent);
  const search = view.querySelector("input");
  search.value = "illegal memory"; search.dispatchEvent(new Event("input"));
  const left = all("p[data-column=reason]", view).map((p) => p.textContent);
  const label = getComputedStyle(view.querySelector("p[data-column=reason]"), "::before").content;
  const columns = [...new Set(all("p[data-column]").map((p) => p.dataset.column))].sort();
  return { cut, beyond: beyond.map((p) => p.textContent), reasons, heads, left, label, columns };
""",
        width,
    )
    assert found["cut"] == found["beyond"] == []
    assert "reason" not in found["heads"] and len(set(found["reasons"])) >= 3
    assert found["left"] and all("illegal memory" in reason for reason in found["left"])
    assert "reason" in found["label"]
    assert set(found["columns"]) >= {"reason", "command", "settings"}


def test_a_number_opens_its_samples_by_keyboard(page):
    found = look(
        page,
        """
  const numbers = all(".heat button");
  numbers[2].focus();
  const moved = document.activeElement === numbers[2];
  document.activeElement.click();
  const dialog = document.getElementById("samples");
  const circles = dialog.querySelectorAll("circle").length;
  const title = dialog.querySelector("h2").textContent;
  const median = all("text", dialog).map((t) => t.textContent).find((t) => t.includes("median"));
  const inside = dialog.contains(document.activeElement);
  dialog.querySelector(".close").click();
  const shown = numbers[2].getAttribute("aria-label");
  return { moved, circles, title, median, inside, open: dialog.open, shown };
""",
    )
    assert found["moved"] and found["inside"] and not found["open"]
    assert found["circles"] > 30 and " best" in found["title"]
    # The median of the ratios by round is the number of the cell.
    ratio = float(found["median"].split("median ")[1])
    assert f"{ratio:.2f}×" in found["shown"]


def test_text_from_a_file_stays_text(tmp_path):
    name = '<img src=x onerror="console.error(1)"><script>console.error(2)</script>'
    group = planted.group("nw", {"n": 64}, 1.0)
    planted.fail(group["rows"][-1], "failed", name)
    group["rows"][0]["config"] = name
    gpu = planted.device(f"NVIDIA {name}")
    document = planted.document([group], gpu=gpu)
    file, path = tmp_path / "a.json", tmp_path / "report.html"
    file.write_text(planted.sealed(document), encoding="utf-8")
    path.write_text(render(load([file])), encoding="utf-8")
    found = look(
        path,
        """
  await openAll();
  document.querySelector(".heat button").click();
  const images = all("img:not(figure img)").length;
  return { images, shown: document.body.textContent.includes("onerror") };
""",
    )
    assert found == {"images": 0, "shown": True}


def test_the_reader_chooses_dark_or_light_and_paper_is_white_without_controls(page):
    """The rules for paper, applied to the screen."""
    found = look(
        page,
        """
  const button = document.getElementById("theme");
  const ground = () => getComputedStyle(document.body).backgroundColor;
  const before = ground(); button.click(); const after = ground(); button.click();
  const chosen = [before !== after, ground() === before];
  const rules = [...document.styleSheets[0].cssRules].find((r) => r.media?.mediaText === "print");
  const style = document.createElement("style");
  style.textContent = [...rules.cssRules].map((r) => r.cssText).join("\\n");
  document.documentElement.dataset.theme = "dark";
  document.head.append(style);
  await openAll();
  const seen = (selector) => all(selector).some((e) => e.getClientRects().length);
  return { chosen, tools: seen(".tools"), nav: seen("nav"), heat: seen(".heat"),
    ground: ground() };
""",
    )
    assert found.pop("chosen") == [True, True]
    assert found == {"tools": False, "nav": False, "heat": True, "ground": "rgb(255, 255, 255)"}


@pytest.fixture(scope="module")
def recorded(record, tmp_path_factory):
    """The page of the whole record."""
    path = tmp_path_factory.mktemp("recorded") / "report.html"
    path.write_text(render(record), encoding="utf-8")
    return path


def test_the_page_of_the_record_is_short(recorded):
    """In bytes, pixels and sheets of paper; with everything open, tables fit or keep in sight what
    a row is of."""
    assert recorded.stat().st_size <= 1_500_000
    found = look(
        recorded,
        """
  const height = document.documentElement.scrollHeight;
  const first = document.querySelector(".heat").getBoundingClientRect().bottom;
  await openAll();
  const wide = all(".wide").filter((e) => e.scrollWidth > e.clientWidth + 1);
  const loose = wide.filter((e) => {
    const key = e.querySelector(".key, th[scope=row]");
    e.scrollLeft = 200;
    return !e.matches(".view *") ? false : getComputedStyle(key).position !== "sticky";
  });
  return { height, first, loose: loose.map((e) => e.ariaLabel) };
""",
        1400,
    )
    assert found["loose"] == []
    assert found["height"] <= 15_000 and found["first"] <= 1_100
    pdf = recorded.with_suffix(".pdf")
    assert browser.written(recorded, "print-to-pdf", pdf, "--no-pdf-header-footer") == []
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes())) <= 20


def test_figures_can_be_read_on_a_phone(recorded):
    """They scroll rather than shrink: a text of 7 points, the least there is, has 9 pixels. That of
    two GPUs is narrow, and fits."""
    found = look(
        recorded,
        """
  await Promise.all(all("figure img").map((img) => img.decode()));
  const sizes = all("figure img").filter((img) => img.getClientRects().length).map((img) =>
    7 * img.getBoundingClientRect().width / (0.75 * img.naturalWidth));
  const narrow = all("figure.narrow").filter((e) => e.getClientRects().length);
  return { sizes, scrolled: narrow.map((e) => e.scrollWidth - e.clientWidth) };
""",
        390,
    )
    assert len(found["sizes"]) >= 10 and min(found["sizes"]) >= 9
    assert found["scrolled"] and max(found["scrolled"]) <= 1
