"""A page in a headless browser: what its script makes of it, and what the console says.

No driver is needed: the page is given a script of the test, which leaves what it found in the page,
and the browser prints the page when its script has run.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MISSING = (
    "no headless browser on PATH (" + ", ".join(NAMES) + "); on Debian: "
    "apt-get install chromium-headless-shell"
)

_PROBE = """<pre id="outcome"></pre><script>
(async () => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const openAll = async () => {
    all("details").forEach((fold) => { fold.open = true; });
    window.dispatchEvent(new Event("beforeprint"));
    await wait(50);
  };
  let found;
  try {
    for (let i = 0; i < 200 && !document.documentElement.dataset.ready; i++) await wait(25);
    found = await (async () => { SCRIPT })();
  } catch (error) { found = { error: String(error) }; }
  document.getElementById("outcome").textContent = JSON.stringify(found);
})();
</script>"""


def find() -> str | None:
    """The browser, as a command."""
    return next((name for name in NAMES if shutil.which(name)), None)


def _run(page: Path, width: int, height: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    browser = find()
    assert browser is not None
    as_root = ["--no-sandbox"] if os.getuid() == 0 else []
    return subprocess.run(
        [
            browser, "--headless", *as_root, "--disable-gpu", "--hide-scrollbars",
            "--enable-logging=stderr", "--virtual-time-budget=20000",
            f"--user-data-dir={page.parent / 'profile'}", f"--window-size={width},{height}",
            *arguments, page.as_uri(),
        ],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def _console(run: subprocess.CompletedProcess[str]) -> list[str]:
    """What the page wrote to its console, errors that nobody caught included."""
    return re.findall(r':CONSOLE[^"]*"(.*)", source', run.stderr)


def look(page: Path, script: str, width: int = 1280, height: int = 900) -> tuple[Any, list[str]]:
    """(what ``script`` returned, the console) of a page in a window of that size. The script may
    ``await openAll()``, which opens every fold and draws what is in it; ``all(selector, within)``
    is a list."""
    text = page.read_text(encoding="utf-8")
    before, after = text.rsplit("</body>", 1)
    probed = page.with_name(f"probed-{page.name}")
    probe = _PROBE.replace("SCRIPT", script)
    probed.write_text(f"{before}{probe}</body>{after}", encoding="utf-8")
    run = _run(probed, width, height, "--dump-dom")
    found = re.findall(r'<pre id="outcome">(.*?)</pre>', run.stdout, re.DOTALL)
    assert found and found[-1], run.stderr[-2000:]
    return json.loads(html.unescape(found[-1])), _console(run)


def screenshot(page: Path, out: Path, width: int, height: int, *arguments: str) -> list[str]:
    """Writes what a window of that size shows; returns the console."""
    run = _run(page, width, height, f"--screenshot={out}", *arguments)
    assert out.is_file(), run.stderr[-2000:]
    return _console(run)
