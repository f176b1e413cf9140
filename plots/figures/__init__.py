"""The figures: one module each, with the drawing, the prose around it and its registration.

A module of this package that registers a FigureKind is a figure of the command line and, if it is
of a microbenchmark, of the report. There is no other list to add it to.
"""

import sys

from plots.discovery import import_modules
from plots.figures.registry import FIGURES, FigureKind, mode_name, of_microbenchmarks, register

import_modules(sys.modules[__name__])

__all__ = ["FIGURES", "FigureKind", "mode_name", "of_microbenchmarks", "register"]
