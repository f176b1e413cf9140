"""The command line: what it prints, what it writes, every error and exit status."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading

import pytest
import synthetic

from plots.cli import main
from plots.commands.figure import drawable
from plots.data.selection import gpu_named
from plots.data.strategies import ROOT
from plots.errors import PlotsError


def run(capsys, *arguments):
    status = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


FILES = [f"{name}_file" for name in
         ("paper", "memory", "async_copy", "dsm", "dpx", "matched", "cross")]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "suffix"), [*((name, "svg") for name in drawable()), ("heatmap", "png")]
)
def test_every_figure_can_be_written(capsys, request, tmp_path, name, suffix):
    out = tmp_path / f"x.{suffix}"
    files = map(request.getfixturevalue, FILES)
    status, _, err = run(capsys, "figure", name, *files, "--out", out)
    assert status == 0 and f"wrote {out}\n" in err
    assert out.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")


@pytest.mark.parametrize(
    ("arguments", "ignored"),
    [
        (["balance", "--gpu", "NVIDIA H200", "--app", "nw"], "--gpu, --app"),
        (["latency", "{memory}", "--cache", "hot", "--launch", "graph"], "--cache, --launch"),
    ],
)
def test_a_choice_that_changes_nothing_in_a_figure_is_refused(
    capsys, paper_file, memory_file, tmp_path, arguments, ignored
):
    places = {"paper": paper_file, "memory": memory_file}
    out = tmp_path / "x.svg"
    given = [a.format(**places) for a in arguments]
    status, _, err = run(capsys, "figure", *given, "-o", out)
    assert status == 2 and not out.exists()
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
        (["docs", "{paper}", "--out", "{paper}/pages"], "Not a directory"),
        (["docs", "{paper}", "--out", "x", "--check"], "expected it without --out"),
        (["expect", "V100", "A101"], 'no GPU "A101"; nearest: '),
        (["compare", "{absent}.json", "{paper}"], "found nothing"),
        (["reprot", "{paper}"], 'no command "reprot"; nearest: report'),
        (["report", "--nonsense"], "unrecognized arguments: --nonsense"),
        ([], "COMMAND"),
    ],
)
def test_mistakes_are_one_line_and_status_2(capsys, paper_file, tmp_path, save, arguments, line):
    empty = tmp_path / "empty"
    empty.mkdir()
    places = {
        "paper": paper_file,
        "empty": empty,
        "absent": tmp_path / "absent",
        "version": save('{"schema": "amasia-result", "version": 9}', "version.json"),
        "groupless": save(synthetic.document([]), "groupless.json"),
    }
    status, out, err = run(capsys, *(a.format(**places) for a in arguments))
    assert status == 2 and out == ""
    assert err.startswith("plots: ") and line in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (3, ["1.json and in ", "a-tuning.json is no result file"]),
        (4, ["4 groups are in more than one file or session", "4 JSON files are no result files"]),
    ],
)
def test_notes_of_a_kind_are_one_line_where_they_are_many(capsys, save, count, said):
    groups = [synthetic.group("nw", {"n": n}, 1.0) for n in range(4, 4 + count)]
    for day in (1, 2):
        document = synthetic.document(groups, date=f"2026-01-0{day}T00:00:00Z")
        folder = save(document, f"r/{day}.json").parent
    for name in "abcd"[:count]:
        save('{"schema": "amasia-tuning"}', f"r/{name}-tuning.json")
    status, _, err = run(capsys, "advise", folder)
    assert status == 0 and all(line in err for line in said)
    assert err.count("\n") == (6 if count == 3 else 2)


# Where it is written


def page(memory_file, out):
    return main(["reproduction", str(memory_file), "-o", str(out)])


@pytest.mark.parametrize("there", [True, False], ids=["file", "nothing"])
def test_of_a_link_the_target_is_written(capsys, memory_file, tmp_path, there):
    target, link, second = tmp_path / "t" / "page.md", tmp_path / "link.md", tmp_path / "second.md"
    target.parent.mkdir()
    if there:
        target.write_text("old", encoding="utf-8")
    link.symlink_to("t/page.md")  # relative to where it stands
    second.symlink_to(link)
    assert page(memory_file, second) == 0
    assert link.is_symlink() and second.is_symlink() and not target.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("# What of the source documents")
    assert [path.name for path in target.parent.iterdir()] == ["page.md"]


def test_what_is_no_file_is_written_in_place(capsys, memory_file, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read = []
    reader = threading.Thread(
        target=lambda: read.append(fifo.read_text(encoding="utf-8")),
        daemon=True,  # it waits for ever where nobody writes
    )
    reader.start()
    status = page(memory_file, fifo)
    if not stat.S_ISFIFO(fifo.lstat().st_mode):  # replaced: nobody writes to it any more
        fifo.unlink()
        pytest.fail("the FIFO was replaced")
    reader.join(timeout=60)
    assert status == 0 and read[0].startswith("# What of the source documents")


def as_module(*arguments, **streams):
    return subprocess.run(
        [sys.executable, "-m", "plots", *map(str, arguments)],
        cwd=ROOT, text=True, timeout=120, check=False, **streams,
    )  # fmt: skip


def test_the_name_of_stdout_is_what_stands_behind_it(memory_file, tmp_path):
    name = tmp_path / "stdout"  # as /dev/stdout, which must not be at stake
    name.symlink_to("/proc/self/fd/1")
    log = tmp_path / "log"
    log.write_text("before\n", encoding="utf-8")
    with log.open("a", encoding="utf-8") as file:
        done = as_module("reproduction", memory_file, "-o", name, stdout=file)
    assert done.returncode == 0 and name.is_symlink()
    assert log.read_text(encoding="utf-8").startswith("before\n# What of the source documents")
    piped = as_module("reproduction", memory_file, "-o", name, stdout=subprocess.PIPE)
    assert piped.returncode == 0 and piped.stdout.startswith("# What of the source documents")


needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@needs_full
def test_a_full_device_is_a_line_and_stays_a_device(capsys, memory_file, tmp_path):
    link = tmp_path / "full"  # so that nothing in /dev is at stake
    link.symlink_to("/dev/full")
    assert page(memory_file, link) == 2
    assert (
        capsys.readouterr().err == f"plots: {link}: cannot be written (No space left on device)\n"
    )
    assert link.is_symlink() and stat.S_ISCHR(os.stat("/dev/full").st_mode)


@needs_full
@pytest.mark.parametrize(
    "arguments", [("expect", "V100", "A100"), ("reproduction", "{memory}"), ("expect", "--help")]
)
def test_a_full_stdout_is_a_line_and_status_5(memory_file, arguments):
    arguments = [a.format(memory=memory_file) for a in arguments]
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = as_module(*arguments, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 5
    assert done.stderr == "plots: stdout cannot be written: No space left on device\n"


def test_a_closed_stdout_is_a_line_and_a_reader_that_left_is_none(memory_file):
    command = f"{sys.executable} -m plots reproduction {memory_file}"

    def shell(text):
        return subprocess.run(
            ["bash", "-c", text],
            cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    closed = shell(f"{command} >&-")
    assert closed.returncode == 5
    assert closed.stderr == "plots: stdout cannot be written: it is closed\n"
    left = shell(f"set -o pipefail; {command} | head -1")
    assert left.returncode == 0 and left.stderr == "" and left.stdout.count("\n") == 1


def test_a_gpu_is_known_by_a_part_of_its_name():
    gpus = ["NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL", "NVIDIA H200"]
    assert gpu_named(None, gpus) is None
    for part, gpu in (("h200", gpus[2]), ("HBM3", gpus[0]), (gpus[1], gpus[1])):
        assert gpu_named(part, gpus) == gpu
    for part, said in (("H100", "part of several GPUs: NVIDIA H100 80GB"), ("A100", "no GPU")):
        with pytest.raises(PlotsError, match=said):
            gpu_named(part, gpus)
