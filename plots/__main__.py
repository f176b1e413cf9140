"""``python -m plots``."""

import contextlib
import os
import sys

from plots.cli import main

status = main()
for stream in (sys.stdout, sys.stderr):  # None where it was closed before
    with contextlib.suppress(AttributeError, OSError, ValueError):  # of which main() has told
        stream.flush()
os._exit(status)  # to take millions of samples apart one by one would take a quarter of a second
