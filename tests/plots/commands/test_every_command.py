"""What holds for each command; and a command is one file."""

from __future__ import annotations

import argparse
import shlex
import tomllib

import pytest

from plots.cli import main, parser
from plots.commands import COMMANDS
from plots.data.strategies import ROOT


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


def test_expect_takes_the_older_first_and_says_when_it_looks_reversed(capsys):
    assert main(["expect", "V100", "A100"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("A100 over V100, fp32: expected 1.38") and captured.err == ""
    assert main(["expect", "A100", "V100"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("V100 over A100")
    assert captured.err == "V100 (2017) is older than A100 (2020): expect takes OLD NEW\n"
