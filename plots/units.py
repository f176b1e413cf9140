"""Numbers as people read them."""

import numpy as np

_MOST_DIGITS = 6


def milliseconds(value: float) -> str:
    """A time given in ms with three digits, in the unit that suits it."""
    if not np.isfinite(value):
        return "–"
    scaled, unit = (value * 1e3, "µs") if value < 1e-1 else (value, "ms")
    if value >= 1e3:
        scaled, unit = value / 1e3, "s"
    return f"{scaled:#.3g}".rstrip(".") + f" {unit}"


def times(value: float, digits: int = 2) -> str:
    """A ratio as people read it: "1.18×"; ``digits`` after the point below ten."""
    if value >= 100:
        return f"{value:.0f}×"
    return f"{value:.1f}×" if value >= 10 else f"{value:.{digits}f}×"


def amount(value: float) -> str:
    """Four digits, never an exponent; a dash for what is not known."""
    if not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def interval_digits(low: float, high: float) -> int:
    """Digits after the point, at least two, that show an interval as it is. No end rounds to 1,
    because a resolved gain must not read as none, and the two ends do not round to one number."""
    for digits in range(2, _MOST_DIGITS):
        one = f"{1:.{digits}f}"
        told = all(f"{end:.{digits}f}" != one or end == 1 for end in (low, high))
        if told and (low == high or f"{low:.{digits}f}" != f"{high:.{digits}f}"):
            return digits
    return _MOST_DIGITS


def claimed_ratio(ratio: float, low: float, high: float) -> str:
    """A resolved ratio with its interval, in as many digits as the claim needs:
    "1.31× [1.30, 1.32]", "1.004× [1.001, 1.007]"."""
    digits = interval_digits(low, high)
    return f"{times(ratio, digits)} [{low:.{digits}f}, {high:.{digits}f}]"


def shortened(text: str, most: int = 80) -> str:
    """At most ``most`` characters, the middle left out: a name from a file may be of any length,
    and drawing a text takes time with the square of it."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"
