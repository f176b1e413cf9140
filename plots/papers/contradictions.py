"""Claims of the source documents that the results contradict, a paragraph each, with the experiment
that would decide: those of inputs/published/contradictions.toml."""

from __future__ import annotations

import tomllib
from typing import Any

from plots.papers.ours import FUNCTIONS, Files, own_value
from plots.papers.published import FOLDER


def _paragraph(claim: dict[str, Any], files: Files) -> str:
    found = {name: own_value(files, of)[0] for name, of in claim["values"].items()}
    values = {name: own.value for name, own in found.items() if own is not None}
    said: list[str] = []
    for sentence in claim["sentences"]:
        try:
            if eval(sentence.get("when", "True"), FUNCTIONS, values):
                said.append(sentence["text"].format(**values))
        except (NameError, KeyError):  # a value is not known
            pass
        if not said:
            return ""
    return " ".join(said)


def contradictions(files: Files) -> list[str]:
    """One paragraph for each claim that these results, of one GPU, contradict."""
    claims = tomllib.loads((FOLDER / "contradictions.toml").read_text(encoding="utf-8"))["claim"]
    return [text for claim in claims if (text := _paragraph(claim, files))]
