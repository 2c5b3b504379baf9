"""What the README shows is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from bigtop.cli.main import bigtop

README = Path(__file__).parent.parent / "README.md"
CLOCK = re.compile(r"\d+\.\d+ s \(\d+/s\)")


def sessions() -> list[tuple[str, str]]:
    """Each command of a console block, and what is printed below it."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README.read_text(), re.DOTALL):
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = session.partition("\n")
            found.append((command, printed.rstrip()))
    return found


def test_the_readme_shows_sessions() -> None:
    assert len(sessions()) >= 3


@pytest.mark.parametrize(("command", "printed"), sessions())
def test_commands_print_what_is_shown(command: str, printed: str) -> None:
    words = shlex.split(command)
    assert words[0] == "bigtop"
    result = CliRunner().invoke(bigtop, words[1:])
    assert CLOCK.sub("", result.output).rstrip() == CLOCK.sub("", printed)


def test_python_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("".join(blocks), {}, "README", None, None)
    assert len(examples.examples) >= 5
    assert doctest.DocTestRunner().run(examples).failed == 0
