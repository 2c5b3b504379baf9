"""Moves and situations in plain words, for people who have the cards before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bigtop.core.state import (
    FLIP,
    KEEP,
    MOVE_LIMIT,
    PASS,
    SCOUT_SHOW,
    SHOW,
    MoveParts,
    Round,
    move_parts,
)
from bigtop.notation import parse_row

if TYPE_CHECKING:
    from bigtop.notation import Position

_FIXED = {
    KEEP: "Keep the hand as it is",
    FLIP: "Flip the whole hand",
    PASS: "Pass: end the round",
}


def says(position: Position, token: str) -> str:
    """Say what a move does, in one phrase without a full stop.

    Args:
        position: where the move is legal.
        token: the move as in the notation; a Show of hidden cards must name them.

    Returns:
        For example `Show 3 4 5 (places 3 to 5)`. Places count from 1 at the left of the hand,
        after the scouted card was put in for the Show of a Scout & Show; cards are named by
        their active numbers.

    Raises:
        IllegalMoveError: the move is not legal here.
        NotationError: the token is not a move.
    """
    move = move_parts(position.code(token))
    if move.kind in _FIXED:
        return _FIXED[move.kind]
    table = position.round
    hand = table.hand(table.turn)
    if move.kind == SHOW:
        return f"Show {_block(hand, move, token)}"
    card = table.active[-1 if move.end else 0]
    taken = _turned(card) if move.turned else card
    scouted = _scouted(table, move, card, taken) + _gap(hand, move.place)
    if move.kind == SCOUT_SHOW:
        hand = hand[: move.place] + bytes([taken]) + hand[move.place :]
        return f"Scout & Show: {scouted}, then show {_block(hand, move, token)}"
    return f"Scout {scouted}"


def situation(position: Position) -> str:
    """Say in one sentence whose turn it is and against what, or how the round ended."""
    table = position.round
    if position.is_over:
        return f"The round is over: {_ending(position.end, table)}."
    seat = f"Seat {position.turn} of {position.players}"
    if position.flipping:
        return f"{seat} to choose keep or flip; seat {position.start} moves first."
    if table.active:
        return f"{seat} to move; active set {numbers(table.active)} of seat {table.owner}."
    return f"{seat} to move; no active set."


def numbers(row: bytes) -> str:
    """Return the active numbers of a row of cards with spaces between, `x` for a hidden card."""
    return " ".join(str(card >> 4) if card else "x" for card in row)


def _turned(card: int) -> int:
    return (card & 15) << 4 | card >> 4


def _scouted(table: Round, move: MoveParts, card: int, taken: int) -> str:
    side = "" if len(table.active) == 1 else "right " if move.end else "left "
    turn = f", turned over to {taken >> 4}," if move.turned else ""
    return f"the {side}card {card >> 4}{turn} to place {move.place + 1}"


def _gap(hand: bytes, place: int) -> str:
    """Return where a place is among the neighbours it will have, nothing if those are hidden."""
    before, after = hand[max(place - 1, 0) : place], hand[place : place + 1]
    if 0 in before + after:
        return ""
    if before and after:
        return f" (between {numbers(before)} and {numbers(after)})"
    return f" (after {numbers(before)})" if before else f" (before {numbers(after)})"


def _block(hand: bytes, move: MoveParts, token: str) -> str:
    block = hand[move.first : move.last + 1]
    if 0 in block:
        block = parse_row(token.partition(":")[2])
    if len(block) == 1:
        return f"{numbers(block)} (place {move.first + 1})"
    return f"{numbers(block)} (places {move.first + 1} to {move.last + 1})"


def _ending(end: str, table: Round) -> str:
    if end == "i":
        empty = next(seat for seat in range(table.players) if not table.hand(seat))
        return f"seat {empty} has no card left"
    if end == "ii":
        return f"nobody beat the set of seat {table.owner}"
    return f"it was stopped after {MOVE_LIMIT:,} moves"
