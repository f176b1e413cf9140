"""Functions of scipy.special, imported when the first of them is called for: that takes a fifth of
a second, and what only draws or lists recorded values calls for none."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    function = globals()[name] = getattr(special, name)
    return function
