"""The chapters below the apps: one module each, which registers itself.

A module of this package that registers a Part is a chapter of the report. There is no other list to
add it to.
"""

import sys

from plots.discovery import import_modules
from plots.report.chapters.registry import BEHIND_MICROBENCHMARKS, Part, parts, register

import_modules(sys.modules[__name__])

__all__ = ["BEHIND_MICROBENCHMARKS", "Part", "parts", "register"]
