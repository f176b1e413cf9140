"""Your own implementations against each other, with Amasia's sampler and statistics.

``compare({"old": f, "new": g})`` measures callables that enqueue work on a CUDA stream
(docs/your-kernel.md). Result files are analysed by the package ``plots``.
"""

from amasia.comparing import compare
from amasia.result import (
    AmasiaError,
    Comparison,
    Interval,
    LibraryMissing,
    NoDevice,
    NotMeasured,
    NotSaved,
    Result,
    Timing,
    WrongResult,
)

__all__ = [
    "AmasiaError",
    "Comparison",
    "Interval",
    "LibraryMissing",
    "NoDevice",
    "NotMeasured",
    "NotSaved",
    "Result",
    "Timing",
    "WrongResult",
    "compare",
]
