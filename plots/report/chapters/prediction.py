"""What a model of the machine says before anything runs, beside what was measured."""

from __future__ import annotations

from plots.report import documents
from plots.report.chapters.registry import Part, register

register(Part("prediction", "Prediction", documents.chapter("prediction"), order=20))
