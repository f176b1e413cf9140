"""Interrupts reach the tests and what they start, also where a shell started them in the
background: it has such a job ignore them, and a program keeps what it was started with."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
