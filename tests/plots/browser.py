"""A page in a headless browser: what its script makes of it, and what the console says.

No driver is needed: the page is given a script of the test, which leaves what it found in the page,
and the browser prints the page when its script has run.

Some browsers open no window below 500 px: `chromium` and `google-chrome` since their new headless
mode, while `chromium-headless-shell` does. So a narrow page stands in a frame of its width, in a
wide window, whichever browser it is.
"""

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

LEAST_WIDTH = 500  # of a window

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
  const said = JSON.stringify(found);
  document.getElementById("outcome").textContent = said;
  if (parent !== window) parent.postMessage(said, "*");
})();
</script>"""

# The page in a frame; what its script found is told to the window.
_FRAME = """<!DOCTYPE html>
<html><body style="margin: 0"><pre id="outcome" hidden></pre><script>
addEventListener("message", (e) => {
  document.getElementById("outcome").textContent = e.data;
});
</script>
<iframe src="PAGE" style="border: 0; display: block; width: WIDTHpx; height: HEIGHTpx"></iframe>
</body></html>"""


def find() -> str | None:
    """The browser, as a command."""
    return next((name for name in NAMES if shutil.which(name)), None)


def _run(page: Path, width: int, height: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    browser = find()
    assert browser is not None
    as_root = ["--no-sandbox"] if os.getuid() == 0 else []
    if width < LEAST_WIDTH:
        frame = page.with_name(f"framed-{page.name}")
        text = _FRAME.replace("PAGE", html.escape(page.name))
        text = text.replace("WIDTH", str(width)).replace("HEIGHT", str(height))
        frame.write_text(text, encoding="utf-8")
        page, width = frame, LEAST_WIDTH
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
    before, after = page.read_text(encoding="utf-8").rsplit("</body>", 1)
    probed = page.with_name(f"probed-{page.name}")
    probe = _PROBE.replace("SCRIPT", script)
    probed.write_text(f"{before}{probe}</body>{after}", encoding="utf-8")
    run = _run(probed, width, height, "--dump-dom")
    found = re.findall(r'<pre id="outcome"[^>]*>(.*?)</pre>', run.stdout, re.DOTALL)
    assert found and found[-1], run.stderr[-2000:]
    return json.loads(html.unescape(found[-1])), _console(run)


def written(
    page: Path, option: str, out: Path, *arguments: str, width: int = 1400, height: int = 900
) -> list[str]:
    """Writes what a window of that size shows ("screenshot"), or the page as it would be printed
    ("print-to-pdf"); returns the console. A picture of a page below LEAST_WIDTH is that wide, with
    the page at its left."""
    run = _run(page, width, height, f"--{option}={out}", *arguments)
    assert out.is_file(), run.stderr[-2000:]
    return _console(run)
