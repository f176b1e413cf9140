"""amasia.compare on a real device, with CUDA's runtime through ctypes and nothing else."""

import ctypes
import ctypes.util
from collections.abc import Iterator

import pytest

import amasia
from amasia.library import VARIABLE
from tests.process import built

BYTES = 64 << 20


class Runtime:
    """What these tests need of libcudart."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._data = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(self._data), ctypes.c_size_t(2 * BYTES))

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, name)(*arguments)
        assert status == 0, f"{name}: error {status}"

    def fill(self, stream: int, value: int, size: int) -> None:
        self._call(
            "cudaMemsetAsync", self._data, ctypes.c_int(value), ctypes.c_size_t(size),
            ctypes.c_void_p(stream),
        )  # fmt: skip

    def new_stream(self) -> int:
        stream = ctypes.c_void_p()
        without_the_default = 1  # cudaStreamNonBlocking
        self._call(
            "cudaStreamCreateWithFlags", ctypes.byref(stream), ctypes.c_uint(without_the_default)
        )
        return stream.value or 0

    def wait(self) -> None:
        self._call("cudaDeviceSynchronize")

    def first_and_last(self, size: int) -> tuple[int, int]:
        found = []
        for offset in (0, size - 1):
            byte = ctypes.c_ubyte()
            place = ctypes.c_void_p((self._data.value or 0) + offset)
            device_to_host = 2
            self._call("cudaMemcpy", ctypes.byref(byte), place, ctypes.c_size_t(1), device_to_host)
            found.append(byte.value)
        return found[0], found[1]


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    names = [
        ctypes.util.find_library("cudart"),
        "libcudart.so",
        "/usr/local/cuda/lib64/libcudart.so",
    ]
    for name in filter(None, names):
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        pytest.skip("no libcudart to call")
    count = ctypes.c_int()
    if library.cudaGetDeviceCount(ctypes.byref(count)) != 0 or count.value == 0:
        pytest.skip("no CUDA device")
    monkeypatch.setenv(VARIABLE, str(built("libamasia_compare.so")))
    yield Runtime(library)


def test_half_the_bytes_take_half_the_time(cuda: Runtime) -> None:
    def verify() -> bool:
        assert cuda.first_and_last(BYTES) == (5, 5)
        return True

    result = amasia.compare(
        {
            "all": lambda stream: cuda.fill(stream, 5, 2 * BYTES),
            "half": lambda stream: cuda.fill(stream, 5, BYTES),
        },
        reset=lambda stream: cuda.fill(stream, 0xFF, 2 * BYTES),
        verify=verify,
        seconds=5,
    )
    assert result.claim == "faster" and 1.5 < result.ratio < 2.5
    assert result.warnings == ()


def test_the_same_is_not_told_apart(cuda: Runtime) -> None:
    def fill(stream: int) -> None:
        cuda.fill(stream, 5, BYTES)

    assert amasia.compare({"one": fill, "other": fill}, seconds=5).claim not in ("faster", "slower")


def test_nothing_another_stream_and_waiting_are_found(cuda: Runtime) -> None:
    aside = cuda.new_stream()

    def right(stream: int) -> None:
        cuda.fill(stream, 5, BYTES)

    def waits(stream: int) -> None:
        cuda.fill(stream, 5, BYTES)
        cuda.wait()

    with pytest.raises(amasia.NotMeasured, match="new: it takes no longer than nothing"):
        amasia.compare({"old": right, "new": lambda stream: None})
    with pytest.raises(amasia.NotMeasured, match="new: its work goes on for"):
        amasia.compare({"old": right, "new": lambda stream: cuda.fill(aside, 5, 2 * BYTES)})
    warnings = amasia.compare({"old": right, "new": waits}, seconds=2).warnings
    assert [w for w in warnings if w.startswith("new: it waits for the GPU")]
