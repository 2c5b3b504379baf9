"""`bigtop show`: the table of a position, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bigtop.cli.common import (
    Answer,
    BadInput,
    PositionCommand,
    answer_positions,
    base_keys,
    color_option,
    json_option,
    position_argument,
)

if TYPE_CHECKING:
    from bigtop.notation import Position


@click.command(cls=PositionCommand)
@position_argument
@click.option("--view", type=int, metavar="SEAT", help="Only what this seat knows.")
@json_option
@color_option
def show(position: str, view: int | None, as_json: bool, color: bool) -> None:
    """Draws the table: the hands with both numbers, active set, chips, points.

    The number above is the active one, ## is the back of a hidden card. With - as
    POSITION, reads them from standard input, one a line.

    \b
    Examples:
      bigtop show "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
      bigtop deal --players 5 --seed 7 | bigtop show -

    \b
    JSON: position, history (if there were moves), players, seat (to act), start (seat that
    moves first; null outside the flip phase), over, end ("", "i", "ii" or "cut"),
    hands: [[card, ...], ...] (a card as in the text, hidden ones "x"),
    active: null | {cards, owner}, tokens: [seat, ...], forced_pass, captured, chips, points
    (each a list by seat; points as if the round stopped here), out: [card, ...],
    game: null | {round, scores}.
    """

    def answer(asked: Position) -> Answer:
        if view is not None:
            asked = _viewed(asked, view)
        if as_json:
            return _keys(asked)
        from bigtop.drawing import draw

        return draw(asked, color)

    answer_positions(position, as_json, answer)


def _viewed(position: Position, seat: int) -> Position:
    if not 0 <= seat < position.players:
        raise BadInput(f"--view: expected a seat from 0 to {position.players - 1}, got {seat}")
    if position.round.hidden(seat):
        raise BadInput(f"--view: the hand of seat {seat} has hidden cards (x) in '{position}'")
    return position.view(seat)


def _keys(position: Position) -> dict[str, object]:
    from bigtop.notation import format_card

    table = position.round

    def cards(row: bytes) -> list[str]:
        return [format_card(card) if card else "x" for card in row]

    return {
        **base_keys(position),
        "players": position.players,
        "seat": position.turn,
        "start": position.start if position.flipping else None,
        "over": position.is_over,
        "end": position.end,
        "hands": [cards(table.hand(seat)) for seat in range(position.players)],
        "active": {"cards": cards(table.active), "owner": table.owner} if table.active else None,
        "tokens": [seat for seat in range(position.players) if table.tokens >> seat & 1],
        "forced_pass": table.forced_pass,
        "captured": list(table.captured),
        "chips": list(table.chips),
        "points": list(position.points()),
        "out": cards(table.out),
        "game": position.game and position.game._asdict(),
    }
