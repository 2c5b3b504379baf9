"""Boards: the deals of a run, who sits where, and the games that are played on them.

A board is one deal with its starting seat (of a whole game: the deals of all its rounds).
Everything about a board follows from the run's seed and the board's number: any board can be
played alone, on any machine, and adding boards never changes earlier ones.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache

from bigtop.core.policy import play_logged
from bigtop.core.rng import Rng
from bigtop.core.state import FLIP, Round, deal, deck
from bigtop.engines import EngineSpecError, make_engine
from bigtop.notation import Game, Position, format_row, low_first
from bigtop.players import Clock, Player, PlayerFailure, make_player
from bigtop.record import Forfeit, GameRecord, RoundRecord

AT_ONCE = ("random", "greedy", "planner")
"""Engines that decide at once: a table of them is played without leaving the core."""

# streams of a run's generator: a purpose, then the number of the board
STREAM_DEALS = 1
STREAM_PLAYERS = 2
STREAM_SEATING = 3


@dataclass(frozen=True)
class Run:
    """What a run was asked for: all that its games follow from.

    Attributes:
        kind: `match` (the first engine against tables of the second) or `tournament`.
        engines: canonical specs.
        players: seats at a table, 2 to 5.
        unit: `round` or `game` (as many rounds as players).
        seed: 0 to 2**64 - 1.
        forced_pass: two players: pass only when nothing else is possible.
        budget: of engines that are programs or Python classes, as `sims=N` or `time=S`.
    """

    kind: str
    engines: tuple[str, ...]
    players: int
    unit: str
    seed: int
    forced_pass: bool = False
    budget: str = ""

    @property
    def digest(self) -> str:
        """A short name of the run, the same for the same run."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Table:
    """One seating of a board: the engine of each seat, by its index in the run.

    Attributes:
        engines: index by seat.
        control: played only to compare with; not counted.
    """

    engines: tuple[int, ...]
    control: bool = False


def tables(run: Run, board: int) -> list[Table]:
    """The tables of a board, in the order in which they are played and recorded."""
    if run.kind == "match":
        seats = range(run.players)
        return [
            *(Table(tuple(int(seat != mine) for seat in seats)) for mine in seats),
            Table((1,) * run.players, control=True),
        ]
    pattern = _patterns(len(run.engines), run.players)
    order = Rng(run.seed).split(STREAM_SEATING, board // len(pattern))
    steps = _shuffled(pattern, order)[board % len(pattern)]
    return [
        Table(tuple((first + step) % len(run.engines) for step in steps))
        for first in range(len(run.engines))
    ]


@lru_cache
def _patterns(engines: int, players: int) -> tuple[tuple[int, ...], ...]:
    """The cycle of seatings of a tournament.

    A board seats engine (t + step of the seat) mod n at its table t, so that on each board
    every engine sits once in every seat. Over a cycle each pair of engines meets equally
    often in each pair of seats: for as many engines as seats or more, every choice of
    different steps occurs once (up to MOST_PATTERNS engines and seats; beyond, the multiples
    of a step in turn, which balance pairs where the number of engines is prime).
    """
    if engines >= players:
        choices = list(itertools.permutations(range(1, engines), players - 1))
        if len(choices) > MOST_PATTERNS:
            choices = [
                tuple(step * seat % engines for seat in range(1, players))
                for step in range(1, engines)
                if len({step * seat % engines for seat in range(players)}) == players
            ]
    else:
        choices = [
            steps
            for steps in itertools.product(range(engines), repeat=players - 1)
            if _even((0, *steps), engines)
        ]
    return tuple((0, *steps) for steps in choices)


MOST_PATTERNS = 5040
"""The longest cycle of seatings in which every choice of steps occurs."""


def _even(steps: Sequence[int], engines: int) -> bool:
    """Whether the engines of a table are as mixed as they can be."""
    counts = [steps.count(engine) for engine in range(engines)]
    return max(counts) - min(counts) <= 1


def _shuffled[T](items: Sequence[T], rng: Rng) -> list[T]:
    """The items in an order drawn from the generator (Fisher and Yates)."""
    out = list(items)
    for last in range(len(out) - 1, 0, -1):
        other = rng.below(last + 1)
        out[last], out[other] = out[other], out[last]
    return out
