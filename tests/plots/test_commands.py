"""Commands: what holds for each, what they print where, mistakes, and where they write."""

import argparse
import gzip
import os
import shlex
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import planted
import pytest

from plots.cli import main, parser
from plots.commands import load_commands
from plots.data.documents import find_files, read_document
from plots.data.load import load
from plots.data.selection import gpu_named
from plots.data.strategies import ROOT
from plots.errors import PlotsError, ResultFileError
from tests import process

MEMORY = ROOT / "results" / "h200" / "memory.json.gz"


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_a_figure_is_written(ran, paper_file, tmp_path, suffix):
    out = tmp_path / f"x.{suffix}"
    assert f"wrote {out}\n" in ran(0, "figure", "heatmap", paper_file, "-o", out).err
    assert out.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")


@pytest.mark.parametrize(
    ("arguments", "ignored"),
    [
        (["balance", "--gpu", "NVIDIA H200", "--app", "nw"], "--gpu, --app"),
        (["latency", MEMORY, "--cache", "hot", "--launch", "graph"], "--cache, --launch"),
    ],
)
def test_a_choice_that_changes_nothing_in_a_figure_is_refused(ran, tmp_path, arguments, ignored):
    out = tmp_path / "x.svg"
    err = ran(2, "figure", *arguments, "-o", out).err
    assert not out.exists()
    assert err == f"plots: the figure {arguments[0]} shows the same whatever {ignored} says\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["figure", "speedups", "{paper}"], 'no figure "speedups"; nearest: speedup'),
        (
            ["figure", "speedup", "{paper}", "--app", "hotspt"],
            'no app "hotspt" in the result files; n',
        ),
        (["figure", "speedup", "{paper}", "--gpu", "H100"], 'no GPU "H100"'),
        (["figure", "speedup", "{paper}", "-o", "x.gif"], "expected a file name that ends in .svg"),
        (["report", "{empty}"], "no result files under"),
        (["report", "{version}"], "version 9 is newer than this program"),
        (["report", "{paper}", "--out", "{paper}/r.html"], "cannot be written"),
        (["report", "{groupless}"], "hold no comparison group"),
        (["expect", "V100", "A101"], 'no GPU "A101"; nearest: '),
        (["expect", "V100", "GTX"], 'GPU "GTX" is ambiguous: GTX 745, GTX 1050 Ti'),
        (["compare", "{absent}.json", "{paper}"], "found nothing"),
        (["compare", "{paper}", "{paper}", "--app", "hotspt"], "nearest: hotspot"),
        (["compare", "{paper}", "{paper}", "--only", "nw *"], "no row of one matches"),
        (["reprot", "{paper}"], 'no command "reprot"; nearest: report'),
        (["report", "--nonsense"], "unrecognized arguments: --nonsense"),
        ([], "COMMAND"),
    ],
)
def test_mistakes_are_one_line_and_status_2(ran, paper_file, tmp_path, save, arguments, line):
    empty = tmp_path / "empty"
    empty.mkdir()
    version = save('{"schema": "amasia-result", "version": 9}', "version.json")
    groupless = save(planted.document([]), "groupless.json")
    places = {"paper": paper_file, "empty": empty, "absent": tmp_path / "absent",
              "version": version, "groupless": groupless}  # fmt: skip
    out, err = ran(2, *(a.format(**places) for a in arguments))
    assert out == ""
    assert err.startswith("plots: ") and line in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (3, ["1.json and in ", "a-other.json is no result file"]),
        (4, ["4 groups are in more than one file or session", "4 JSON files are no result files"]),
    ],
)
def test_notes_of_a_kind_are_one_line_where_they_are_many(ran, save, count, said):
    groups = [planted.group("nw", {"n": n}, 1.0) for n in range(4, 4 + count)]
    for day in (1, 2):
        document = planted.document(groups, date=f"2026-01-0{day}T00:00:00Z")
        folder = save(document, f"r/{day}.json").parent
    for name in "abcd"[:count]:
        save('{"schema": "amasia-other"}', f"r/{name}-other.json")
    save('{"schema": "amasia-tuning"}', "r/tuning.json")  # stands beside results
    err = ran(0, "advise", folder).err
    assert all(line in err for line in said)
    lines = 6 if count == 3 else 2
    assert err.count("\n") == lines
    # Each once, although both sides have them.
    assert ran(0, "compare", folder, folder).err.count("\n") == lines


# Where it is written


@pytest.mark.parametrize("there", [True, False], ids=["file", "nothing"])
def test_of_a_link_the_target_is_written(ran, memory_file, tmp_path, there):
    target, link, second = tmp_path / "t" / "page.md", tmp_path / "link.md", tmp_path / "second.md"
    target.parent.mkdir()
    if there:
        target.write_text("old", encoding="utf-8")
    link.symlink_to("t/page.md")  # relative to where it stands
    second.symlink_to(link)
    ran(0, "reproduction", memory_file, "-o", second)
    assert link.is_symlink() and second.is_symlink() and not target.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("# What of the source documents")
    assert [path.name for path in target.parent.iterdir()] == ["page.md"]


def test_what_is_no_file_is_written_in_place(ran, memory_file, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read = []
    reader = threading.Thread(
        target=lambda: read.append(fifo.read_text(encoding="utf-8")),
        daemon=True,  # it waits for ever where nobody writes
    )
    reader.start()
    ran(0, "reproduction", memory_file, "-o", fifo)
    if not stat.S_ISFIFO(fifo.lstat().st_mode):  # replaced: nobody writes to it any more
        fifo.unlink()
        pytest.fail("the FIFO was replaced")
    reader.join(timeout=60)
    assert read[0].startswith("# What of the source documents")


def _program(*arguments, **given):
    """With these options of subprocess.run, and these variables (None: without) in place of those
    that say how Python reads and writes."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    environment = {
        "MPLCONFIGDIR": "/tmp",
        **kept,
        **{k: v for k, v in given.items() if k.isupper()},
    }
    streams = {k: v for k, v in given.items() if k.islower()} or {"capture_output": True}
    return subprocess.run(
        [sys.executable, "-m", "plots", *map(str, arguments)], cwd=ROOT, timeout=120, check=False,
        env={k: v for k, v in environment.items() if v is not None}, **streams,
    )  # fmt: skip


def test_the_name_of_stdout_is_what_stands_behind_it(memory_file, tmp_path):
    name = tmp_path / "stdout"  # as /dev/stdout, which must not be at stake
    name.symlink_to("/proc/self/fd/1")
    log = tmp_path / "log"
    log.write_text("before\n", encoding="utf-8")
    with log.open("a", encoding="utf-8") as file:
        done = _program("reproduction", memory_file, "-o", name, stdout=file)
    assert done.returncode == 0 and name.is_symlink()
    assert log.read_text(encoding="utf-8").startswith("before\n# What of the source documents")
    piped = _program("reproduction", memory_file, "-o", name, stdout=subprocess.PIPE)
    assert piped.returncode == 0 and piped.stdout.startswith(b"# What of the source documents")


needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@needs_full
def test_a_full_device_is_a_line_and_stays_a_device(ran, memory_file, tmp_path):
    link = tmp_path / "full"  # so that nothing in /dev is at stake
    link.symlink_to("/dev/full")
    said = ran(2, "reproduction", memory_file, "-o", link).err
    assert said == f"plots: {link}: cannot be written (No space left on device)\n"
    assert link.is_symlink() and stat.S_ISCHR(os.stat("/dev/full").st_mode)


@needs_full
@pytest.mark.parametrize(
    "arguments", [("expect", "V100", "A100"), ("reproduction", "{memory}"), ("expect", "--help")]
)
def test_a_full_stdout_is_a_line_and_status_5(memory_file, arguments):
    arguments = [a.format(memory=memory_file) for a in arguments]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = _program(*arguments, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 5
    assert done.stderr == b"plots: stdout cannot be written: No space left on device\n"


def test_a_closed_stdout_is_a_line_and_a_reader_that_left_is_none(memory_file):
    command = f"{sys.executable} -m plots reproduction {memory_file}"

    closed = process.run("bash", "-c", f"{command} >&-", cwd=ROOT, status=5)
    assert closed.stderr == "plots: stdout cannot be written: it is closed\n"
    left = process.run("bash", "-c", f"set -o pipefail; {command} | head -1", cwd=ROOT, status=0)
    assert left.stderr == "" and left.stdout.count("\n") == 1


def test_a_gpu_is_known_by_a_part_of_its_name():
    gpus = ["NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL", "NVIDIA H200"]
    assert gpu_named(None, gpus) is None
    for part, gpu in (("h200", gpus[2]), ("HBM3", gpus[0]), (gpus[1], gpus[1])):
        assert gpu_named(part, gpus) == gpu
    for part, said in (("H100", "part of several GPUs: NVIDIA H100 80GB"), ("A100", "no GPU")):
        with pytest.raises(PlotsError, match=said):
            gpu_named(part, gpus)


# --- Of each command ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", load_commands().values(), ids=lambda command: command.name)
def test_help_has_defaults_exit_status_and_two_examples_that_parse(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command.name, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert (ROOT / "plots" / "commands" / f"{command.name}.py").is_file()
    assert text.count(f"  python -m plots {command.name}") == 2
    for status in command.statuses:
        assert f"  {status}\n" in text
    of_command = argparse.ArgumentParser()
    command.arguments(of_command)
    for action in of_command._actions:
        if action.default not in (None, False, argparse.SUPPRESS):
            assert "(default: " in text, action.dest
        assert action.help, action.dest
    for example, _ in command.examples:
        options = parser(load_commands()).parse_args(shlex.split(example))
        assert options.run is command.run
    assert max(map(len, text.splitlines())) <= 100


def test_expect_takes_the_older_first_and_says_when_it_looks_reversed(ran):
    captured = ran(0, "expect", "V100", "A100")
    assert captured.out.startswith("A100 over V100, fp32: expected 1.38") and captured.err == ""
    captured = ran(0, "expect", "A100", "V100")
    assert captured.out.startswith("V100 over A100")
    assert captured.err == "V100 (2017) is older than A100 (2020): expect takes OLD NEW\n"


# --- Wherever that is: locale, encoding, home, foreign files --------------------------------------

RESULT = planted.document([planted.group("nw", {"n": 512}, 1.0)])


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
    (folder / "inside.json").write_text('{"x":{"schema":"amasia-result"}}', encoding="utf-8")
    (folder / "cut.json.gz").write_bytes(gzip.compress(b"{}")[:5])
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


def test_what_is_no_result_in_a_folder_is_passed_over_with_a_note(save, tmp_path, ran):
    path = save(RESULT, "r/run.json")
    packed = path.with_name("packed.json.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    count = _leave_foreign_files(path.parent)
    found, notes = find_files([path.parent])
    assert found == [packed, path] and len(notes) == count
    packed.unlink()
    assert all("\n" not in note and "left out" in note for note in notes)
    for name, said in (
        ("pipe.json", "a pipe"), ("socket.json", "a socket"), ("zero.json", "a device"),
        (".#run.json", "a link to nothing"), ("empty.json", "no result file"),
        ("commented.json", "no result file"),
        ("inside.json", "no result file"), ("cut.json.gz", "no result file"),
    ):  # fmt: skip
        assert [note for note in notes if f"/{name}" in note and said in note], name
    assert main(["advise", str(path.parent)]) == 0
    said = ran(0, "why", str(path.parent)).err
    assert said.count(" is ") == 2 * 4 and said.count("5 JSON files are no result files") == 2


def test_a_damaged_result_in_a_folder_is_an_error_all_the_same(save):
    whole = planted.sealed(RESULT)
    path = save(whole[: len(whole) // 2], "r/half.json")
    save(RESULT, "r/run.json")
    with pytest.raises(ResultFileError, match="half"):
        load([path.parent])


def test_what_is_named_must_be_a_result_file(tmp_path, ran):
    _leave_foreign_files(tmp_path)
    for name, said in (
        ("pipe.json", "is a pipe; expected a regular file"),
        ("zero.json", "is a device; expected a regular file"),
        ("socket.json", "is a socket; expected a regular file"),
        (".#run.json", "found nothing"), ("empty.json", "found an empty one"),
        ("commented.json", "expected JSON"), ("inside.json", "expected an Amasia result file"),
        ("absent.json", "found nothing"), ("x" * 300, "File name too long"),
    ):  # fmt: skip
        (line,) = ran(2, "advise", tmp_path / name).err.splitlines()
        assert said in line
    with pytest.raises(PlotsError, match=r"no result files under .*pipe\.json is a pipe"):
        find_files([tmp_path])


def test_the_journal_that_is_named_is_quoted(save):
    path = save('{"schema": "amasia-journal", "version": 1}\n', "my run.json")
    with pytest.raises(ResultFileError, match=r"amasia merge '.*/my run\.json' --out FILE"):
        read_document(path)
