"""What is measured on: positions from seeded deals, the same for the core and for the twin."""

from __future__ import annotations

from functools import cache

import twin

from bigtop.core.belief import Belief
from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import KEEP, Round, deal, move_code
from bigtop.notation import Position

PLAYERS = (2, 3, 4, 5)
SEED = 2024
AT_LEAST = 400
"""Positions for each number of players, from whole rounds."""
FRESH = 4
"""Fresh deals for each number of players."""


def stream(*keys: int) -> Rng:
    """The random numbers that belong to these keys."""
    return Rng(SEED).split(*keys)


@cache
def self_play(players: int) -> list[Round]:
    """All positions with a move to make that planners come through in their first rounds."""
    found: list[Round] = []
    number = 0
    while len(found) < AT_LEAST:
        rng = stream(players, number)
        round_ = deal(players, rng)
        while not round_.end:
            if round_.start < 0:
                found.append(round_.copy())
            round_.play(choose(round_, "planner", rng))
        number += 1
    return found


@cache
def views(players: int) -> list[Round]:
    """The same positions as the seats that are to move know them."""
    return [round_.view(round_.turn) for round_ in self_play(players)]


@cache
def beliefs(players: int) -> list[Belief]:
    """What those seats know."""
    return [Belief(view) for view in views(players)]


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


@cache
def searched(players: int) -> list[Position]:
    """Views early, midway and late among the positions, to search."""
    every = views(players)
    return [Position.from_round(every[len(every) * part // 4]) for part in (1, 2, 3)]


def as_twin(round_: Round) -> twin.Round:
    """The same position for the twin, by way of its text."""
    return twin.read_position(str(Position.from_round(round_)))
