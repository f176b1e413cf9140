"""The built libraries, and callables that leave a trace."""

from collections.abc import Callable
from typing import Any

import pytest

import amasia
from tests.process import BUILD

STUB_STREAM = 0x57AB  # tests/harness/stub_device/stub_device.cpp


def built(name: str) -> str:
    path = BUILD / name
    if not path.exists():
        pytest.fail(f"{path} is missing: build it, or set AMASIA_BUILD")
    return str(path)


Script = Callable[..., None]


class Problem:
    """An array on a device that is none: implementations write into it what they are to compute."""

    def __init__(self) -> None:
        self.output = "nothing yet"
        self.trace: list[str] = []
        self.streams: set[int] = set()

    def writes(self, name: str, value: str = "right") -> Callable[[int], None]:
        def implementation(stream: int) -> None:
            self.trace.append(name)
            self.streams.add(stream)
            if value != "":
                self.output = value

        return implementation

    def reset(self, stream: int) -> None:
        self.trace.append("reset")
        self.streams.add(stream)
        self.output = "poison"

    def verify(self) -> bool:
        self.trace.append("verify")
        return self.output == "right"

    def both(self) -> dict[str, Callable[[int], None]]:
        return {"old": self.writes("old"), "new": self.writes("new")}

    def compare(self, **options: Any) -> amasia.Result:
        """Compares both with what resets and verifies them, unless told otherwise."""
        given = {"reset": self.reset, "verify": self.verify, **options}
        return amasia.compare(given.pop("implementations", self.both()), **given)
