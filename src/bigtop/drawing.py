"""The table of a position as lines of text, 80 columns wide, in plain ASCII."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from bigtop.words import situation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bigtop.core.state import Round
    from bigtop.notation import Position

WIDTH = 80  # columns
BACK = "##"  # a hidden card
CARDS_PER_LINE = 20

# Select Graphic Rendition codes; none is a colour that a light or a dark background swallows.
_BOLD, _DIM, _GREEN = "1", "2", "32;1"


def draw(position: Position, color: bool = False) -> str:
    """Draw the table: active set, seats with their points, all hands, known captured cards.

    A hand has the active numbers above the others; the one that acts also has its places,
    counted from 1. Hidden cards are drawn as backs.

    Args:
        position: any position, with hidden cards or without, running or over.
        color: mark whose turn it is and the active numbers; nothing is said by colour alone.

    Returns:
        Lines of at most 80 columns (colour codes apart), joined by newlines.
    """
    table = position.round
    parts = [
        _headline(position, color),
        _active(table, color),
        _seats(position, table, color),
        "\n".join(_hand(position, table, seat, color) for seat in range(position.players)),
    ]
    if table.out:
        known = " ".join(f"{card >> 4}/{card & 15}" for card in table.out)
        parts.append(_wrapped(f"Cards out of play, as far as known: {known}"))
    if position.moves:
        parts.append(_wrapped(f"Moves: {' '.join(position.moves)}"))
    return "\n\n".join(parts)


def _paint(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ")


def _headline(position: Position, color: bool) -> str:
    lines = [_paint(situation(position), _BOLD, color)]
    if position.players == 2:
        forced = position.round.forced_pass
        lines.append(f"Two players; passing {'only when forced' if forced else 'at will'}.")
    if position.game:
        scores = ", ".join(map(str, position.game.scores))
        lines.append(
            f"Round {position.game.round} of {position.players};"
            f" points of the seats before it: {scores}."
        )
    return "\n".join(lines)


def _active(table: Round, color: bool) -> str:
    if not table.active:
        return "No active set."
    return f"Active set of seat {table.owner}:\n{_row(table.active, color, places=False)}"


def _seats(position: Position, table: Round, color: bool) -> str:
    tokens = position.players > 2
    points = "points" if position.is_over else "points if stopped"
    lines = [
        f"seat  cards  captured  chips{'  Scout & Show' if tokens else ''}  {points}",
    ]
    for seat, value in enumerate(position.points()):
        acting = seat == position.turn and not position.is_over
        token = f"  {'held' if table.tokens >> seat & 1 else 'used':>12}" if tokens else ""
        line = (
            f"{'>' if acting else ' '}{seat:>3}{len(table.hand(seat)):>7}"
            f"{table.captured[seat]:>10}{table.chips[seat]:>7}{token}  {value:>{len(points)}}"
        )
        lines.append(_paint(line, _GREEN, color and acting))
    return "\n".join(lines)


def _hand(position: Position, table: Round, seat: int, color: bool) -> str:
    hand = table.hand(seat)
    acting = seat == position.turn and not position.is_over
    title = f"Seat {seat}{' (to act)' if acting else ''}:"
    title = _paint(title, _GREEN, color and acting)
    return f"{title}\n{_row(hand, color, places=acting)}" if hand else f"{title} no card"


def _row(row: bytes, color: bool, places: bool) -> str:
    lines = []
    for start in range(0, len(row), CARDS_PER_LINE):
        cards = row[start : start + CARDS_PER_LINE]
        if places:
            numbers = (str(start + place) for place in range(1, len(cards) + 1))
            lines.append(_line("place", numbers, _DIM, color))
        above = (str(card >> 4) if card else BACK for card in cards)
        lines.append(_line("active" if any(cards) else "hidden", above, _BOLD, color))
        if any(cards):
            below = (str(card & 15) if card else BACK for card in cards)
            lines.append(_line("other", below, _DIM, color))
    return "\n".join(lines)


def _line(label: str, cells: Iterable[str], code: str, color: bool) -> str:
    return f"  {label:<8}" + _paint("".join(f"{cell:>3}" for cell in cells), code, color)
