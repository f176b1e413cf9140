"""The chapters below the apps: one module each, which registers itself.

A module of this package that registers a Part is a chapter of the report. There is no other list to
add it to.
"""

import sys

from plots.discovery import import_modules
from plots.report.chapters.registry import Part, parts, register

import_modules(sys.modules[__name__])

__all__ = ["Part", "parts", "register"]
