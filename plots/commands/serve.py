"""``python -m plots serve``: the report of a folder, made anew while results arrive."""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import html
import http.server
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plots.commands.registry import Command, register
from plots.commands.report import page_of
from plots.data.cache import Cache, default_folder
from plots.data.documents import what_is_wrong
from plots.errors import PlotsError
from plots.folders import json_files

# Asks every second whether the page is still the newest. A request that fails is tried again, so
# that a page left open finds the next server.
_RELOAD = """
<script>
setInterval(async () => {
  try {
    const answer = await fetch("/version", { cache: "no-store" });
    if (answer.ok && (await answer.text()) !== "VERSION") location.reload();
  } catch { /* the server is gone: perhaps it comes back */ }
}, 1000);
</script>
"""


@dataclass(frozen=True)
class Shown:
    """The page that is served, and what it was made of."""

    version: str
    page: str


def _waiting(reason: str) -> str:
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Amasia: waiting</title>'
        f"<body><h1>Waiting for results</h1><p>{html.escape(reason)}</p></body></html>"
    )


def _with_line(page: str, *texts: str) -> str:
    """The page with a line about each text above everything else."""
    lines = "".join(f'<p class="warn">{html.escape(text)}</p>' for text in texts)
    return page.replace("<main", lines + "<main", 1)


class Maker:
    """Makes the report of a folder of what can be read in it, with a line about every file that
    cannot, as one of which only half is written yet."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        # Which file in which state was looked at, and what is wrong with it.
        self._known: dict[tuple[Path, int, int], str] = {}

    def _wrong(self, folder: Path, look: bool) -> dict[Path, str]:
        """The files that cannot be read and why; without ``look`` those that are known to be so."""
        found: dict[Path, str] = {}
        known: dict[tuple[Path, int, int], str] = {}
        for path in json_files(folder)[0]:
            try:
                of = path.stat()
            except OSError:  # it is being replaced
                continue
            state = (path, of.st_size, of.st_mtime_ns)
            if state in self._known:
                known[state] = self._known[state]
            elif look:
                known[state] = what_is_wrong(path)
            if known.get(state):
                found[path] = known[state]
        self._known = known
        return found

    def __call__(self, folder: Path) -> str:
        """Raises PlotsError when there is nothing to show."""
        wrong = self._wrong(folder, look=False)
        try:
            page = self._page(folder, wrong)
        except PlotsError:
            # Each file is read by itself only now, because mostly nothing is wrong with any.
            before, wrong = wrong, self._wrong(folder, look=True)
            if wrong == before:
                raise
            page = self._page(folder, wrong)
        return _with_line(page, *(f"Left out: {why}" for why in wrong.values()))

    def _page(self, folder: Path, wrong: dict[Path, str]) -> str:
        try:
            return page_of([str(folder)], self._cache, quiet=True, without=wrong)
        except PlotsError as error:
            raise PlotsError("; ".join([*wrong.values(), str(error)])) from None


class Watched:
    """A folder, and the newest page of what is in it. Its methods may be called by any thread."""

    def __init__(self, folder: Path, make: Callable[[Path], str]) -> None:
        self._folder = folder
        self._make = make
        self._lock = threading.Lock()
        self._shown = Shown("not looked", _waiting(f"{folder}: not looked at yet"))

    @property
    def shown(self) -> Shown:
        with self._lock:
            return self._shown

    def state(self) -> str:
        """What changes when a result file does: names, sizes and times."""
        seen = []
        for path in sorted(self._folder.rglob("*.json")):
            with contextlib.suppress(OSError):  # it is being replaced
                of = path.stat()
                seen.append(f"{path} {of.st_size} {of.st_mtime_ns}")
        return "\n".join(seen)

    def look(self) -> bool:
        """Makes the page anew when something changed; says whether. Where no page can be made, the
        last one stays, with what is wrong above it."""
        state = self.state()
        with self._lock:
            if state == self._shown.version:
                return False
            before = self._shown
        try:
            page = self._make(self._folder)
            print(f"made the report of {self._folder} anew", file=sys.stderr)
        except (PlotsError, OSError) as error:  # OSError: a file was replaced meanwhile
            print(f"plots: {error}", file=sys.stderr)
            page = _waiting(str(error))
            if "<main" in before.page:
                page = _with_line(before.page, f"Not the newest: {error}")
        with self._lock:
            self._shown = Shown(state, page)
        return True


def _short(version: str) -> str:
    return hashlib.sha256(version.encode("utf-8", "backslashreplace")).hexdigest()[:16]


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True  # an open page must not keep the command from ending

    def __init__(self, port: int, watched: Watched) -> None:
        self.watched = watched
        super().__init__(("127.0.0.1", port), _Handler)


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        shown = self.server.watched.shown
        version = _short(shown.version)
        match self.path:
            case "/version":
                self._answer(version, "text/plain")
            case "/":
                reload = _RELOAD.replace("VERSION", version)
                page = shown.page.replace("</body>", reload + "</body>")
                self._answer(page, "text/html")
            case _:
                self.send_error(404, "the report is at /")

    def _answer(self, text: str, kind: str) -> None:
        content = text.encode("utf-8", "backslashreplace")
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: a request a second would hide what was made anew."""


def server_of(watched: Watched, port: int) -> _Server:
    """A server of the newest page on this machine only; port 0 takes a free one. Raises
    PlotsError."""
    if not 0 <= port <= 65535:
        raise PlotsError(f"expected a port from 0 to 65535, not {port}")
    try:
        return _Server(port, watched)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PlotsError(
                f"port {port} is in use: another one with --port, or --port 0 for any free one"
            ) from None
        raise PlotsError(f"port {port} cannot be used ({error.strerror})") from None


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path("results"), help="the folder to watch"
    )
    parser.add_argument("--port", type=int, default=8000, help="of http://127.0.0.1; 0: any free")
    parser.add_argument(
        "--every", type=float, default=1.0, metavar="SECONDS", help="how often to look"
    )


def _run(options: argparse.Namespace) -> int:
    if not options.folder.is_dir():
        raise PlotsError(f"{options.folder}: expected a folder to watch; make it, or name another")
    if not 0 < options.every <= 3600:
        raise PlotsError(f"expected 0 to 3600 seconds as --every, not {options.every:g}")
    cache = Cache(default_folder())
    watched = Watched(options.folder, Maker(cache))
    server = server_of(watched, options.port)
    print(f"http://127.0.0.1:{server.server_port} shows {options.folder}; end with Ctrl-C")
    sys.stdout.flush()
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    with contextlib.suppress(KeyboardInterrupt):
        # In this thread, because pictures are drawn by forked processes.
        while True:
            watched.look()
            time.sleep(options.every)
    server.shutdown()
    server.server_close()
    return 0


register(
    Command(
        "serve",
        "the report of a folder in the browser, made anew while results arrive",
        _arguments,
        _run,
        (
            ("serve out", "during amasia study ... --out out/run.json"),
            ("serve results --port 0", "on any free port"),
        ),
        order=12,
    )
)
