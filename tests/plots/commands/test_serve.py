"""The report of a folder follows what is in the folder."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest
import synthetic

from plots.cli import main
from plots.commands import serve
from plots.data.cache import Cache
from plots.data.strategies import ROOT
from plots.errors import PlotsError


def document(n):
    return json.dumps(
        synthetic.signed(synthetic.document([synthetic.group("nw", {"n": n}, 1.0, seed=n)]))
    )


def fetch(server, path):
    address = f"http://127.0.0.1:{server.server_port}{path}"
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read().decode("utf-8")


@pytest.fixture
def serving(tmp_path):
    """(server, watched, folder) of a page that only lists the files of the folder."""

    def listing(folder):
        names = sorted(path.name for path in folder.rglob("*.json"))
        if not names:
            raise PlotsError("no result files <yet>")
        if any(path.stat().st_size == 0 for path in folder.rglob("*.json")):
            raise PlotsError("half of a file")
        return f"<html><body><main>{' '.join(names)}</main></body></html>"

    watched = serve.Watched(tmp_path, listing)
    server = serve.server_of(watched, 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server, watched, tmp_path
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_page_follows_the_folder(serving):
    server, watched, folder = serving
    assert watched.look() and not watched.look()
    waiting = fetch(server, "/")
    assert "Waiting for results" in waiting and "no result files &lt;yet&gt;" in waiting
    version = fetch(server, "/version")
    assert version in waiting  # so that the page knows when it is old
    (folder / "a.json").write_text("{}", encoding="utf-8")
    assert watched.look() and not watched.look()
    assert fetch(server, "/version") != version
    assert "<main>a.json</main>" in fetch(server, "/")


def test_half_a_file_leaves_the_last_page_with_what_is_wrong(serving):
    server, watched, folder = serving
    (folder / "a.json").write_text("{}", encoding="utf-8")
    watched.look()
    (folder / "b.json").write_text("", encoding="utf-8")
    assert watched.look()
    page = fetch(server, "/")
    assert "Not the newest: half of a file" in page and "<main>a.json</main>" in page
    (folder / "b.json").write_text("{}", encoding="utf-8")
    assert watched.look()
    page = fetch(server, "/")
    assert "Not the newest" not in page and "<main>a.json b.json</main>" in page


def test_a_truncated_file_is_named_and_the_good_ones_are_shown(tmp_path):
    """From the first look on, not only where a page was made before; it comes when it is whole."""
    watched = serve.Watched(tmp_path, serve.Maker(Cache(None)))
    whole = document(1024)
    (tmp_path / "half.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
    watched.look()
    assert "half.json: expected the rest of the JSON" in watched.shown.page  # nothing to show yet
    (tmp_path / "good.json").write_text(document(512), encoding="utf-8")
    assert watched.look() and not watched.look()
    page = watched.shown.page
    (line,) = re.findall(r'<p class="warn">(Left out: [^<]*)</p>', page)
    assert "half.json: expected the rest of the JSON" in line and "truncated" in line
    assert "n=512" in page and "n=1024" not in page and page.count("Waiting for results") == 0
    # One that does not even begin as a result file does, and what is no file.
    (tmp_path / "bits.json").write_text("{", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.json")
    watched.look()
    page = watched.shown.page
    assert page.count("Left out: ") == 1 and "n=512" in page
    assert "Notes about the files: 2" in page
    (tmp_path / "bits.json").unlink()
    (tmp_path / "pipe.json").unlink()
    (tmp_path / "half.json").write_text(whole, encoding="utf-8")
    watched.look()
    page = watched.shown.page
    assert "Left out" not in page and "n=512" in page and "n=1024" in page


def test_several_readers_at_once_get_whole_pages(serving):
    server, watched, folder = serving
    (folder / "a.json").write_text("{}", encoding="utf-8")
    watched.look()
    got: list[str] = []
    readers = [threading.Thread(target=lambda: got.append(fetch(server, "/"))) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert len(got) == 8 and len(set(got)) == 1 and got[0].endswith("</body></html>")


def test_there_is_nothing_else(serving):
    server, _, folder = serving
    (folder / "a.json").write_text("{}", encoding="utf-8")
    for path in ("/a.json", "/../a.json", "/etc/passwd"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetch(server, path)


def test_mistakes_are_one_line(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", str(tmp_path), "--port", str(port)]) == 2
    assert capsys.readouterr().err == (
        f"plots: port {port} is in use: another one with --port, or --port 0 for any free one\n"
    )
    for arguments, said in (
        ([str(tmp_path / "none")], "none: expected a folder to watch"),
        ([str(tmp_path), "--port", "70000"], "expected a port from 0 to 65535, not 70000"),
        ([str(tmp_path), "--every", "0"], "expected 0 to 3600 seconds as --every, not 0"),
    ):
        assert main(["serve", *arguments]) == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1


def test_a_run_is_followed_and_ctrl_c_ends_it(tmp_path):
    """The command as it is used: results arrive, the page has them, Ctrl-C ends it well."""
    server = subprocess.Popen(
        [sys.executable, "-m", "plots", "serve", str(tmp_path), "--port", "0", "--every", "0.1"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]

        def wait_for(text):
            for _ in range(300):
                with urllib.request.urlopen(address, timeout=10) as answer:
                    page = answer.read().decode("utf-8")
                if text in page:
                    return page
                time.sleep(0.1)
            raise AssertionError(f"never shown: {text}")

        wait_for("Waiting for results")
        (tmp_path / "a.json").write_text(document(512), encoding="utf-8")
        page = wait_for("n=512")
        assert 'fetch("/version"' in page
        (tmp_path / "b.json").write_text(document(1024), encoding="utf-8")
        wait_for("n=1024")
    finally:
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=30)
    assert server.returncode == 0 and "Traceback" not in errors
