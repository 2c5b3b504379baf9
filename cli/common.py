"""What the sub-commands share: statuses, the position argument, the common options, printing."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bigtop.notation import Position

STATUS_FAILED = 1
STATUS_BAD_INPUT = 2
STATUS_INTERRUPTED = 130

LINE_LIMIT = 1_000_000
"""Longest line read from standard input, in bytes; a round of 1,000 moves needs a tenth of it."""

SEED_LIMIT = 2**64 - 1
THREADS_LIMIT = 256
MEMORY_LIMIT = 1 << 20  # megabytes

Answer = str | Mapping[str, object]
"""What a command found for one position: text for people, or the keys of one JSON object."""


class BadInput(click.ClickException):
    """The user's input cannot be used; the message says what, where, and what was expected."""

    exit_code = STATUS_BAD_INPUT


class Failure(click.ClickException):
    """Something failed that is not the user's input."""

    exit_code = STATUS_FAILED


def complain(message: str) -> None:
    """Write a message on stderr as one printable line after the name of the program."""
    text = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in " ".join(message.split())
    )
    click.echo(f"bigtop: {text}", err=True)


def out_of_memory(error: Exception) -> bool:
    """Whether there was no memory, be it for the stack of a thread."""
    return isinstance(error, MemoryError) or str(error) == "can't start new thread"


class PositionCommand(click.Command):
    """A command with a POSITION, which may begin with the `-` of an empty hand (`-/x3 ...`)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, a word that begins with `-/` as a position."""
        # No option begins so; a space in front, which readers of positions skip, makes it a word.
        return super().parse_args(ctx, [f" {a}" if a.startswith("-/") else a for a in args])


def _join(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> str:
    return " ".join(words).strip(" ")


# Several words make one position, so that forgotten quotes do no harm.
position_argument = click.argument(
    "position", nargs=-1, required=True, metavar="POSITION", callback=_join
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")


def _resolve_color(ctx: click.Context, param: click.Parameter, choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    return (
        not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
        and sys.stdout is not None
        and sys.stdout.isatty()
    )


color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    callback=_resolve_color,
    help="Colour the output; auto: on a terminal, unless NO_COLOR is set.",
)

seed_option = click.option(
    "--seed",
    type=click.IntRange(0, SEED_LIMIT),
    metavar="N",
    help="Seed, 0 to 2^64-1, for output that repeats.  [default: drawn, and told on stderr]",
)


players_option = click.option(
    "--players",
    type=click.IntRange(2, 5),
    default=4,
    show_default=True,
    metavar="N",
    help="Players at the table, 2 to 5.",
)


def _complete_engine(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from bigtop.engines import ENGINES

    return [name for name in ENGINES if name.startswith(incomplete)]


engine_option = click.option(
    "--engine",
    metavar="SPEC",
    default="bigtop",
    show_default=True,
    shell_complete=_complete_engine,
    help="Who answers: a name, then :key=value,... ('bigtop engines' lists them).",
)

sims_option = click.option(
    "--sims", type=click.IntRange(min=1), metavar="N", help="Budget in simulations a move."
)


def _check_time(ctx: click.Context, param: click.Parameter, seconds: float | None) -> float | None:
    if seconds is None or 0 < seconds < math.inf:
        return seconds
    raise click.BadParameter(f"{seconds} is not a positive number of seconds.")


time_option = click.option(
    "--time",
    type=float,
    metavar="S",
    callback=_check_time,
    help="Budget in seconds a move (does not repeat exactly).",
)

threads_option = click.option(
    "--threads",
    type=click.IntRange(1, THREADS_LIMIT),
    default=1,
    show_default=True,
    metavar="N",
    help="Threads of a search.",
)

memory_option = click.option(
    "--memory",
    type=click.IntRange(1, MEMORY_LIMIT),
    default=256,
    show_default=True,
    metavar="MB",
    help="Memory of a search.",
)


def drawn_seed() -> int:
    """Draw a seed from the operating system and report it on stderr."""
    seed = int.from_bytes(os.urandom(8), "big")
    complain(f"seed {seed} (drawn; --seed {seed} repeats this)")
    return seed


def read_position(text: str) -> Position:
    """Parse a position (with its optional moves); `BadInput` says what is wrong with it."""
    from bigtop.notation import (
        IllegalMoveError,
        InconsistentPositionError,
        NotationError,
        Position,
    )

    try:
        return Position.parse(text)
    except (NotationError, IllegalMoveError, InconsistentPositionError) as error:
        raise BadInput(str(error)) from error


def require_open_hand(position: Position, wanted: str) -> None:
    """Refuse a position whose seat to act has hidden cards; `wanted` names what needs them."""
    hidden = position.round.hidden(position.turn)
    if hidden:
        raise BadInput(
            f"{wanted} must know the hand of the seat to act, but seat {position.turn} has"
            f" {count(hidden, 'hidden card')} (x) in '{position}'"
        )


def count(number: int, noun: str) -> str:
    """Return the number and the noun, with the plural's s unless the number is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def base_keys(position: Position) -> dict[str, object]:
    """Return the JSON keys that every answer to a position begins with."""
    keys: dict[str, object] = {"position": str(position)}
    if position.moves:
        keys["history"] = position.history
    return keys


def answer_positions(text: str, as_json: bool, answer: Callable[[Position], Answer]) -> None:
    """Print the answer to a position, or to each line of stdin when the text is `-`.

    A bad line among many is reported in its place and does not stop the others; the exit status
    is then 2.

    Args:
        text: the POSITION argument as it was given.
        as_json: whether `answer` returns the keys of a JSON object, else text.
        answer: called with each position; may raise `BadInput`.
    """
    if text != "-":
        print_answer(answer(read_position(text)))
        return
    lines = refused = answered = 0
    for lines, line in enumerate(_stdin_lines(), 1):
        try:
            if len(line) >= LINE_LIMIT:
                raise BadInput(f"expected a position of less than {LINE_LIMIT} characters")
            position = read_position(line)
            result = answer(position)
        except BadInput as error:
            refused += 1
            if as_json:
                print_answer({"line": lines, "error": error.format_message()})
            else:
                complain(f"line {lines}: {error.format_message()}")
            continue
        if not as_json:
            click.echo(f"\n{position}" if answered else str(position))
        print_answer(result)
        answered += 1
    if not lines:
        raise BadInput("standard input is empty; expected one position a line")
    if refused:
        if as_json:
            complain(f"{refused} of {count(lines, 'line')} refused")
        click.get_current_context().exit(STATUS_BAD_INPUT)


def _stdin_lines() -> Iterator[str]:
    """Yield the lines of stdin as they arrive, a line over the limit cut to it."""
    if sys.stdin is None:
        return
    stream = sys.stdin.buffer
    while line := stream.readline(LINE_LIMIT):
        rest = line
        while len(rest) == LINE_LIMIT and not rest.endswith(b"\n"):
            rest = stream.readline(LINE_LIMIT)
        yield line.decode("utf-8", "backslashreplace").rstrip("\r\n")


def print_answer(answer: Answer) -> None:
    """Print text as it is, and the keys of a JSON object as one line."""
    if not isinstance(answer, str):
        import json

        answer = json.dumps(answer, allow_nan=False)
    # Whether there are colours was decided where the text was made.
    click.echo(answer, color=True)
