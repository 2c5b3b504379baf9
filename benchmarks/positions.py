"""What is measured on, the same for the core and for the twin: the positions of `bigtop bench`, and
fresh deals."""

from __future__ import annotations

from functools import cache

import twin

from bigtop import bench
from bigtop.bench import PLAYERS, SEED, beliefs, self_play, stream, views
from bigtop.core.state import KEEP, Round, deal, move_code
from bigtop.notation import Position

FRESH = 4
"""Fresh deals for each number of players."""


@cache
def fresh(players: int) -> list[Round]:
    """Deals in which everybody has kept the hand as dealt."""
    rounds = []
    for number in range(FRESH):
        round_ = deal(players, stream(players, number))
        for _ in range(players):
            round_.play(move_code(KEEP))
        rounds.append(round_)
    return rounds


def searched(players: int) -> list[Position]:
    """Views early, midway and late in a round, to search."""
    return [
        each.position
        for each in bench.searched()
        if each.players == players and each.stage != "flip"
    ]


def as_twin(round_: Round) -> twin.Round:
    """The same position for the twin, by way of its text."""
    return twin.read_position(str(Position.from_round(round_)))


__all__ = [
    "PLAYERS",
    "SEED",
    "as_twin",
    "beliefs",
    "fresh",
    "searched",
    "self_play",
    "stream",
    "views",
]
