"""The group behind `bigtop`, and the one place where an exception becomes a line and a status.

Start-up is part of every answer, so nothing here imports more than Click: the module of a
sub-command is imported when that sub-command runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn, cast

import click

from bigtop.cli.common import (
    STATUS_BAD_INPUT,
    STATUS_FAILED,
    STATUS_INTERRUPTED,
    complain,
    out_of_memory,
)

TRACEBACK_VARIABLE = "BIGTOP_TRACEBACK"
"""Environment variable: when set, a failure of Bigtop itself shows its Python traceback."""

COMMANDS = {
    "bench": "Speed, and a signature that only a change of behaviour moves.",
    "compliance": "Checks a program that speaks the engine protocol.",
    "deal": "A fresh position, as everybody or one seat sees it.",
    "engine": "Speaks the engine protocol on standard input and output.",
    "engines": "The engines, with their options and budgets.",
    "hint": "The best moves with their numbers; whether to flip.",
    "match": "One engine against another, on duplicate deals.",
    "moves": "The legal moves.",
    "perft": "Counts the paths of so many moves.",
    "rate": "Ratings from game records.",
    "show": "Draws the table.",
    "tournament": "Many engines, and their ratings.",
    "train": "Trains the evaluation that learned and bigtop use.",
}
"""Name of each sub-command (also of its module and of the function there), and its summary."""


class Bigtop(click.Group):
    """A group that imports its sub-commands late and turns every exception into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the sub-commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a sub-command; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        return cast(click.Command, getattr(import_module(f"bigtop.cli.{cmd_name}"), cmd_name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sub-commands and their summaries into the help text."""
        # Click would import every sub-command to ask for its summary.
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line; always ends in `SystemExit`, with the status as its code."""
        extra["standalone_mode"] = False  # Click's own way prints several lines for one error
        sys.exit(_status(lambda: super(Bigtop, self).main(*args, **extra)))


def _status(run: Callable[[], object]) -> int:
    """Run the command line and return its exit status, after a line on stderr unless it is 0."""
    try:
        status = run()
        # In this mode the status of `Context.exit` arrives as a value.
        return status if isinstance(status, int) else 0
    except click.UsageError as error:
        complain(_usage_message(error))
        return STATUS_BAD_INPUT
    except click.ClickException as error:
        complain(error.format_message())
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return STATUS_INTERRUPTED
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        if out_of_memory(error):
            complain("out of memory")
        elif isinstance(error, OSError) and error.strerror:
            _drop_output()
            complain(error.strerror + (f": {error.filename}" if error.filename else ""))
        else:
            complain(
                f"internal error: {type(error).__name__}: {error}"
                f" ({TRACEBACK_VARIABLE}=1 shows where; please report it)"
            )
        return STATUS_FAILED


def _drop_output() -> None:
    """Let go of output that cannot be written, or the interpreter would try again at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _usage_message(error: click.UsageError) -> str:
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    return f"{message} (see '{error.ctx.command_path} --help')" if error.ctx else message


@click.group(
    cls=Bigtop,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="bigtop", prog_name="bigtop")
def bigtop() -> None:
    """An engine for the card game SCOUT, for 2 to 5 players.

    A POSITION is one text in quotes; with - instead, positions are read from standard input, one
    a line. Results go to standard output, everything else to standard error.

    \b
    Example:
      bigtop hint "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"

    Exit status: 0 done, 1 something failed that is not your input, 2 bad usage or bad input,
    130 interrupted.
    """


def main() -> NoReturn:
    """Run the command line of this process; always ends in `SystemExit`."""
    bigtop.main(prog_name="bigtop")
    raise AssertionError("the group returned")
