"""`bigtop moves`: the legal moves of a position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bigtop.cli.common import (
    Answer,
    PositionCommand,
    answer_positions,
    base_keys,
    color_option,
    count,
    json_option,
    position_argument,
    require_open_hand,
)

if TYPE_CHECKING:
    from bigtop.notation import Position


@click.command(cls=PositionCommand)
@position_argument
@click.option("--all", "every", is_flag=True, help="Every legal token, not one per outcome.")
@json_option
@color_option
def moves(position: str, every: bool, as_json: bool, color: bool) -> None:
    """The legal moves of the seat to act, one per outcome, in canonical order.

    A round that is over has none. The hand of the seat to act must be open. With - as
    POSITION, reads them from standard input, one a line.

    \b
    Examples:
      bigtop moves "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
      bigtop deal --seed 7 | bigtop moves - --json

    JSON: position, history (if there were moves), seat, moves: [token, ...].
    """

    def answer(asked: Position) -> Answer:
        if not asked.is_over:
            require_open_hand(asked, "a list of moves")
        tokens = [] if asked.is_over else asked.legal_moves(every)
        if as_json:
            return {**base_keys(asked), "seat": asked.turn, "moves": tokens}
        return _text(asked, tokens, color)

    answer_positions(position, as_json, answer)


def _text(position: Position, tokens: list[str], color: bool) -> str:
    from bigtop.words import says, situation

    out = [situation(position)]
    if not position.is_over:
        out.append(f"{count(len(tokens), 'move')}:")
    width = max(map(len, tokens), default=0)
    for token in tokens:
        padded = token.ljust(width)
        out.append(
            f"  {click.style(padded, bold=True) if color else padded}  {says(position, token)}"
        )
    return "\n".join(out)
