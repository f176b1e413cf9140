"""Functions of scipy.special, imported at their first use. The import takes a fifth of a second,
and commands that only draw or list recorded values do not need it."""

from typing import Any


def __getattr__(name: str) -> Any:
    from scipy import special

    function = globals()[name] = getattr(special, name)
    return function
