"""What holds for each command; and a command is one file."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest

from plots.cli import main, parser
from plots.commands import COMMANDS, register
from plots.data.strategies import ROOT

EXAMPLE = '''"""An example."""

from plots.commands.registry import Command, register


def _run(options):
    print("hello " + options.name)
    return 0


register(
    Command(
        "greet",
        "says hello",
        lambda parser: parser.add_argument("--name", default="you", help="whom"),
        _run,
        (("greet", "once"), ("greet --name me", "to me")),
    )
)
'''


def help_of(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_help_has_defaults_exit_status_and_two_examples_that_parse(command, capsys):
    text = help_of(command.name, capsys)
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
        options = parser().parse_args(shlex.split(example))
        assert options.run is command.run
    assert max(map(len, text.splitlines())) <= 100


def test_the_version_is_that_of_the_project(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"amasia plots {project['version']}\n"


def test_adding_a_command_is_adding_a_file(tmp_path):
    shutil.copytree(ROOT / "plots", tmp_path / "plots")
    for name in ("inputs", "schema", "apps", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "plots" / "commands" / "greet.py").write_text(EXAMPLE, encoding="utf-8")
    run = {"cwd": tmp_path, "capture_output": True, "text": True, "env": {**os.environ}}
    code = "from plots.cli import main; main(['greet']); main(['greet', '--help'])"
    done = subprocess.run([sys.executable, "-c", code], check=True, **run)
    assert done.stdout.startswith("hello you\n")
    assert "(default: you)" in done.stdout and "python -m plots greet --name me" in done.stdout


def test_a_second_command_of_a_name_is_refused():
    with pytest.raises(ValueError, match="two commands are called report"):
        register(COMMANDS["report"])


def test_expect_takes_the_older_first_and_says_when_it_looks_reversed(capsys):
    assert main(["expect", "V100", "A100"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("A100 over V100, fp32: expected 1.38") and captured.err == ""
    assert main(["expect", "A100", "V100"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("V100 over A100")
    assert captured.err == "V100 (2017) is older than A100 (2020): expect takes OLD NEW\n"
