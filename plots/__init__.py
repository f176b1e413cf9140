"""Analysis of Amasia's result files: tidy frames, figures, expectation, advice, report.

Nothing here measures. Everything is derived from result files (schema/result.schema.json) and from
the data with sources in inputs/.
"""

from plots.version import version

__version__ = version()
