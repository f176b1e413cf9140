"""What is read and printed wherever that is: locale x encoding x home x backend, as programs; and
folders with what other programs leave in them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import synthetic

from plots import shell
from plots.cli import main
from plots.data.documents import find_files, read_document
from plots.data.load import load
from plots.data.strategies import ROOT
from plots.errors import PlotsError, ResultFileError

RESULT = synthetic.document([synthetic.group("nw", {"n": 512}, 1.0)])


# Around the program.


def _program(*arguments: object, **environment: str | None) -> subprocess.CompletedProcess[bytes]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    kept |= {"MPLCONFIGDIR": kept.get("MPLCONFIGDIR", "/tmp")}
    wanted = {k: v for k, v in environment.items() if v is not None}
    for name, value in environment.items():
        if value is None:
            kept.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "plots", *map(str, arguments)],
        cwd=ROOT, env={**kept, **wanted}, capture_output=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("locale", "encoding", "backend", "home"),
    [
        ("C", "ascii", None, "gone"),
        ("POSIX", None, "nonsense", "unset"),
        ("C.UTF-8", "iso-8859-1", None, "there"),
        ("none-such", None, "module://matplotlib_inline.backend_inline", "gone"),
    ],
)
def test_a_file_is_read_and_told_wherever_that_is(save, tmp_path, locale, encoding, backend, home):
    path = save(RESULT, "zwölf.json")
    homes = {"there": str(tmp_path), "gone": "/nonexistent", "unset": None}
    done = _program(
        "advise", path, LC_ALL=locale, PYTHONIOENCODING=encoding, MPLBACKEND=backend,
        HOME=homes[home],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    said = done.stdout.decode(encoding or "utf-8")
    assert f"tma ran 1.31{'?' if encoding == 'ascii' else '×'} [1.30, 1.32]" in said
    out = tmp_path / "page.md"
    _program("reproduction", path, "-o", out, LC_ALL=locale, PYTHONIOENCODING=encoding)
    assert "–" in out.read_text(encoding="utf-8")  # whatever stdout is


@pytest.mark.parametrize("locale", ["de_DE.ISO-8859-1", "tr_TR.UTF-8"])
def test_a_locale_of_its_own_encoding_is_no_obstacle(save, tmp_path, locales, locale):
    out = tmp_path / "page.md"
    for arguments in (["advise", save(RESULT)], ["reproduction", save(RESULT), "-o", out]):
        done = _program(*arguments, LC_ALL=locale, LOCPATH=locales)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        if out not in arguments:
            said = done.stdout.decode(locale.partition(".")[2])
            assert "tma ran 1.31× [1.30, 1.32]" in said  # which both encodings have
    assert "–" in out.read_text(encoding="utf-8")


# Folders.


def _leave_foreign_files(folder: Path) -> int:
    """What other systems and programs leave beside results; how many are worth a note."""
    (folder / "._run.json").write_bytes(b"\0\5\26\7\0\2\0\0Mac OS X")
    (folder / ".#run.json").symlink_to("user@machine.123")
    (folder / "folder.json").mkdir()
    (folder / "empty.json").touch()
    (folder / "commented.json").write_text("// mine\n{}", encoding="utf-8")
    (folder / "list.json").write_text("[1]", encoding="utf-8")
    (folder / "utf16.json").write_text("{}", encoding="utf-16")
    os.mkfifo(folder / "pipe.json")
    (folder / "zero.json").symlink_to("/dev/zero")
    here = os.getcwd()
    os.chdir(folder)  # the name of a socket is at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("socket.json")
    finally:
        os.chdir(here)
    return 9


def test_what_is_no_result_in_a_folder_is_passed_over_with_a_note(save, tmp_path, capsys):
    path = save(RESULT, "r/run.json")
    count = _leave_foreign_files(path.parent)
    found, notes = find_files([path.parent])
    assert found == [path] and len(notes) == count
    assert all("\n" not in note and "left out" in note for note in notes)
    for name, said in (
        ("pipe.json", "a pipe"), ("socket.json", "a socket"), ("zero.json", "a device"),
        (".#run.json", "a link to nothing"), ("empty.json", "no result file"),
        ("commented.json", "no result file"), ("list.json", "no result file"),
    ):  # fmt: skip
        assert [note for note in notes if f"/{name}" in note and said in note], name
    assert main(["advise", str(path.parent)]) == 0
    assert main(["why", str(path.parent)]) == 0
    said = capsys.readouterr().err
    assert said.count(" is ") == 2 * 4 and said.count("5 JSON files are no result files") == 2


def test_a_damaged_result_in_a_folder_is_an_error_all_the_same(save):
    whole = synthetic.sealed(RESULT)
    path = save(whole[: len(whole) // 2], "r/half.json")
    save(RESULT, "r/run.json")
    with pytest.raises(ResultFileError, match="half"):
        load([path.parent])


def test_what_is_named_must_be_a_result_file(save, tmp_path, capsys):
    _leave_foreign_files(tmp_path)
    for name, said in (
        ("pipe.json", "is a pipe; expected a regular file"),
        ("zero.json", "is a device; expected a regular file"),
        ("socket.json", "is a socket; expected a regular file"),
        (".#run.json", "found nothing"), ("empty.json", "found an empty one"),
        ("commented.json", "expected JSON"), ("list.json", "expected an Amasia result file"),
        ("x" * 300, "File name too long"),
    ):  # fmt: skip
        assert main(["advise", str(tmp_path / name)]) == 2, name
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
    with pytest.raises(PlotsError, match=r"no result files under .*pipe\.json is a pipe"):
        find_files([tmp_path])


# Commands that are suggested.


@pytest.mark.parametrize("word", ["plain/x-1.json", "two words", "it's", "$(date)", "", "*", "é"])
def test_a_suggested_command_can_be_pasted(word):
    command = shell.command("printf", "%s", word)
    done = subprocess.run(
        ["bash", "-c", os.fsencode(command)], capture_output=True, check=True, timeout=60
    )
    assert done.stdout == os.fsencode(word)


def test_the_journal_that_is_named_is_quoted(save):
    path = save('{"schema": "amasia-journal", "version": 1}\n', "my run.json")
    with pytest.raises(ResultFileError, match=r"amasia merge '.*/my run\.json' --out FILE"):
        read_document(path)
