"""`bigtop perft`: how many paths of so many moves a position has, and how fast they are counted."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

import click

from bigtop.cli.common import (
    Answer,
    BadInput,
    PositionCommand,
    answer_positions,
    base_keys,
    color_option,
    count,
    json_option,
    position_argument,
)

if TYPE_CHECKING:
    from bigtop.core.state import Round
    from bigtop.notation import Position

PIECE = 100_000
"""Paths that may be counted in one call; an interrupt waits for the call, which takes well
below a millisecond (with a checked build, tenths of a second)."""


@click.command(cls=PositionCommand)
@position_argument
@click.argument("depth", type=click.IntRange(0, 1000))
@click.option("--divide", is_flag=True, help="Also the count behind each first move.")
@json_option
@color_option
def perft(position: str, depth: int, divide: bool, as_json: bool, color: bool) -> None:
    """Counts the paths of DEPTH moves, one move per outcome.

    A path that ends the round earlier counts once, where it ends. The position must be a full
    one, after the flip phase. With - as POSITION, reads them from standard input, one a line.

    \b
    Examples:
      bigtop perft "34.T5.75/71.T1.31 63@1 0 - 9+2/6+1 38" 2
      bigtop perft "34.T5.75/71.T1.31 63@1 0 - 9+2/6+1 38" 3 --divide --json

    \b
    JSON: position, history (if there were moves), depth, nodes, seconds, nodes_per_second,
    divide: {token: count} (only with --divide).
    """

    def answer(asked: Position) -> Answer:
        if asked.flipping:
            raise BadInput(f"perft begins after the flip phase, but this is in it: '{asked}'")
        if not asked.is_open:
            raise BadInput(
                f"perft needs a full position, but there are hidden cards (x): '{asked}'"
            )
        began = perf_counter()
        divided = {}
        if divide and depth:
            behind = _first_moves(asked.round)
            divided = {asked.token(code): _paths(table, depth - 1) for code, table in behind}
        nodes = sum(divided.values()) if divided else _paths(asked.round, depth)
        seconds = perf_counter() - began
        rate = nodes / seconds if seconds > 0 else 0.0
        if as_json:
            keys = {**base_keys(asked), "depth": depth, "nodes": nodes, "seconds": seconds}
            keys["nodes_per_second"] = rate
            if divide:
                keys["divide"] = divided
            return keys
        out = [f"{token:<14}{number:>15}" for token, number in divided.items()]
        out.append(f"{count(nodes, 'node')} at depth {depth}, {seconds:.3f} s ({rate:.0f}/s)")
        return "\n".join(out)

    answer_positions(position, as_json, answer)


def _first_moves(table: Round) -> Iterator[tuple[int, Round]]:
    """Yield each move, one per outcome, with the round after it."""
    for code in table.moves():
        after = table.copy()
        after.play(code)
        yield code, after


def _paths(table: Round, depth: int) -> int:
    """Count what `Round.perft` counts, in pieces short enough for Ctrl-C to be heard."""
    total = 0
    levels = [iter([(0, table)])]  # no recursion: a round may have more moves than Python calls
    while levels:
        below = next(levels[-1], None)
        left = depth + 1 - len(levels)
        if below is None:
            levels.pop()
        elif left < 2 or len(below[1].moves()) ** left <= PIECE:
            total += below[1].perft(left)
        else:
            levels.append(_first_moves(below[1]))
    return total
