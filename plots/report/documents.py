"""A generated page of the repository (docs/*.md) as a chapter of the report."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from plots.data.documents import find_files
from plots.data.load import Results
from plots.errors import PlotsError
from plots.report.embedded import Embedded
from plots.tree import ROOT

if TYPE_CHECKING:
    from markdown_it.token import Token


def _without_links(tokens: list[Token], page: Path) -> list[Token]:
    """Links keep their text and lose their target, which the report does not carry; addresses of
    the web become text. A picture that lies beside the page comes along."""
    kept: list[Token] = []
    for token in tokens:
        if token.children is not None:
            token.children = _without_links(token.children, page)
        match token.type:
            case "link_open" | "link_close":
                continue
            case "image":
                picture = (page.parent / str(token.attrs["src"])).resolve()
                if picture.suffix != ".svg" or not picture.is_file():
                    token.type = "text"  # what the picture would have shown
                    kept.append(token)
                    continue
                content = base64.b64encode(picture.read_bytes()).decode()
                token.attrs["src"] = f"data:image/svg+xml;base64,{content}"
            case "heading_open" | "heading_close":
                token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        kept.append(token)
    return kept


def as_html(page: Path) -> Markup:
    """A page of Markdown without its title, as part of a page: its HTML is text, as in the
    documents of the repository, and it refers to nothing outside. Tables scroll and sort."""
    # Here, because only such a chapter needs it.
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(page.read_text(encoding="utf-8"))
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        tokens = tokens[3:]
    html = reader.renderer.render(_without_links(tokens, page), reader.options, {})
    html = html.replace("<table>", '<div class="wide tall" tabindex="0"><table>')
    html = html.replace("<pre>", '<pre tabindex="0">')  # it scrolls, too
    return Markup(html.replace("</table>", "</table></div>"))


def _of_the_record(results: Results, root: Path) -> bool:
    """Whether the report is of all recorded results and of nothing else, as the page is."""
    try:
        recorded, _ = find_files([root / "results"])
    except PlotsError:
        return False  # there is none, as where only the analysis is installed
    shown = {Path(path).resolve() for path in results.files["path"]}
    return shown == {path.resolve() for path in recorded}


def chapter(name: str, root: Path = ROOT) -> Callable[[Results, Embedded], Markup]:
    """The body of a chapter that shows docs/``name``.md, where there is such a page and the report
    is of the results that it was made from; tests hold the page to those."""

    def body(results: Results, _: Embedded) -> Markup:
        page = root / "docs" / f"{name}.md"
        if not page.is_file() or not _of_the_record(results, root):
            return Markup("")
        made = Markup('<p class="note">From {}, generated from these results.</p>\n')
        return made.format(escape(page.relative_to(root).as_posix())) + as_html(page)

    return body
