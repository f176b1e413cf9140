"""Analysis of Amasia's result files: tidy frames, figures, expectation, advice, report.

Nothing here measures. Everything is derived from result files (schema/result.schema.json) and from
the data with sources in inputs/.
"""

import os

from plots.tree import version

# Work is shared out to processes (plots/processes.py), and matrices are small: threads of the
# linear algebra beside them would only wait for each other. Read when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = version()
