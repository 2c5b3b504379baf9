"""`bigtop rate`: ratings from game records."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from bigtop.cli.common import BadInput, Failure, count, json_option, print_answer
from bigtop.cli.running import plot_option


@click.command()
@click.argument("records", metavar="RECORDS...", nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Replay every game first.")
@plot_option
@json_option
def rate(records: tuple[str, ...], check: bool, plot: Path | None, as_json: bool) -> None:
    """Ratings of the players in game records (files, or - for standard input).

    The records of a tournament give the ratings that it printed itself.

    \b
    Example:
      bigtop tournament random greedy planner --boards 20 --seed 1 --record games.jsonl
      bigtop rate games.jsonl --check

    JSON: as of 'bigtop tournament'.
    """
    from bigtop.cli.tournament import draw, report
    from bigtop.notation import NotationError
    from bigtop.record import RecordError
    from bigtop.tournament import standing_of_records

    try:
        standing = standing_of_records(_lines(records), check)
    except RecordError as error:
        raise Failure(str(error)) from error
    except (NotationError, ValueError) as error:
        raise BadInput(str(error)) from error
    print_answer(standing.json() if as_json else report(standing))
    if plot:
        played = f"{count(standing.boards, 'board')}, {count(standing.rounds, 'round')}"
        draw(standing, f"{played} in records; 95% intervals", plot)


def _lines(records: tuple[str, ...]) -> Iterator[bytes]:
    """The lines of all files, one after the other."""
    for name in records:
        if name == "-":
            yield from sys.stdin.buffer
        else:
            try:
                with Path(name).open("rb") as file:
                    yield from file
            except OSError as error:
                raise BadInput(f"{error.strerror}: {name}") from error
