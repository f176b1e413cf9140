"""Interrupts reach the tests and the programs that they start, also in a background job, which a
shell starts with interrupts ignored. Locales with a decimal comma, an encoding that is not UTF-8,
and a dotless i.
"""

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files of few tests that take long: begun first, so that no worker is left with one at the end.
LONG = {"test_campaign", "test_package", "test_hostile", "test_install", "test_build", "test_stub"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.stem not in LONG)


LOCALES = ("de_DE.ISO-8859-1", "de_DE.UTF-8", "tr_TR.UTF-8")


@pytest.fixture(scope="session")
def locales(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What LOCPATH must be for LOCALES to be there."""
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("no locale can be made here: that needs the package locales")
    folder, started = tmp_path_factory.mktemp("locales"), []
    for name in LOCALES:
        language, _, encoding = name.partition(".")
        made = ["localedef", "-i", language, "-f", encoding, str(folder / name)]
        started.append(subprocess.Popen(made, stderr=subprocess.DEVNULL))
    for one in started:
        one.wait()  # 1 for a warning
    return str(folder)
