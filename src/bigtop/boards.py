"""Boards: the deals of a run, who sits where, and the games that are played on them.

A board is one deal with its starting seat (of a whole game: the deals of all its rounds).
Everything about a board follows from the run's seed and the board's number: any board can be
played alone, on any machine, and adding boards never changes earlier ones.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import lru_cache

from bigtop.core.policy import play_logged
from bigtop.core.rng import Rng
from bigtop.core.state import FLIP, Round, deal, deck, move_code
from bigtop.engines import make_engine
from bigtop.notation import (
    Game,
    IllegalMoveError,
    NotationError,
    Position,
    format_move,
    format_row,
    low_first,
)
from bigtop.players import MatchPlayer, PlayerFailure, make_player
from bigtop.record import Forfeit, GameRecord, RoundRecord

Steps = tuple[int, ...]

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
    choices: list[Steps]
    if engines < players:
        choices = [
            steps
            for steps in itertools.product(range(engines), repeat=players - 1)
            if _even((0, *steps), engines)
        ]
    elif math.perm(engines - 1, players - 1) <= MOST_PATTERNS:
        choices = list(itertools.permutations(range(1, engines), players - 1))
    else:
        multiples = (
            tuple(step * seat % engines for seat in range(1, players)) for step in range(1, engines)
        )
        choices = [steps for steps in multiples if len({0, *steps}) == players]
    return tuple((0, *steps) for steps in choices)


MOST_PATTERNS = 5040
"""The longest cycle of seatings in which every choice of steps occurs."""


def _even(steps: Sequence[int], engines: int) -> bool:
    """Whether the engines of a table are as mixed as they can be."""
    counts = [steps.count(engine) for engine in range(engines)]
    return max(counts) - min(counts) <= 1


def _shuffled(items: Sequence[Steps], rng: Rng) -> list[Steps]:
    """The items in an order drawn from the generator (Fisher and Yates)."""
    out = list(items)
    for last in range(len(out) - 1, 0, -1):
        other = rng.below(last + 1)
        out[last], out[other] = out[other], out[last]
    return out


def deals(run: Run, board: int) -> list[Round]:
    """The rounds of a board as they are dealt, in the flip phase.

    The holder of 1/2 starts the first one (two players, nobody: seat 0), then the next seat
    each; with two players the second round has the cards that the first one left aside.
    """
    rng = Rng(run.seed).split(STREAM_DEALS, board)
    first = deal(run.players, rng)
    rounds = [first]
    for number in range(1, run.players if run.unit == "game" else 1):
        aside = None
        if run.players == 2:
            dealt = {low_first(card) for seat in (0, 1) for card in first.hand(seat)}
            aside = bytes(card for card in deck(2) if card not in dealt)
        start = (first.start + number) % run.players
        rounds.append(_as_dealt(deal(run.players, rng, aside), start, run.forced_pass))
    if run.forced_pass:
        rounds[0] = _as_dealt(first, first.start, True)
    return rounds


def _as_dealt(dealt: Round, start: int, forced_pass: bool) -> Round:
    """The same deal with another starting seat or edition."""
    return Round(
        [dealt.hand(seat) for seat in range(dealt.players)],
        turn=0,
        start=start,
        tokens=dealt.tokens,
        chips=dealt.chips,
        forced_pass=forced_pass,
    )


class Seats:
    """The players of a run, made when they are first needed, one for each engine and seat.

    Use it as a context manager: programs are ended with it.

    Args:
        run: whose engines sit down.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._players: dict[tuple[int, int], MatchPlayer] = {}
        self._open = ExitStack()
        self.at_once: list[tuple[str, float] | None] = [_at_once(spec) for spec in run.engines]

    def __enter__(self) -> Seats:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the players."""
        self._open.close()

    def player(self, engine: int, seat: int) -> MatchPlayer:
        """The player of an engine in a seat."""
        if (engine, seat) not in self._players:
            player = make_player(self.run.engines[engine], 0, self.run.budget or None)
            self._players[engine, seat] = self._open.enter_context(player)
        return self._players[engine, seat]


def _at_once(spec: str) -> tuple[str, float] | None:
    """Name and Scout cost of an engine that decides at once; None for any other."""
    if spec.partition(":")[0] not in AT_ONCE:
        return None
    engine = make_engine(spec)
    return engine.info.name, float(engine.options.get("scout", 1.0))


def play_board(seats: Seats, board: int) -> list[GameRecord]:
    """Play all tables of a board; one record each, in the order of `tables`."""
    run = seats.run
    rounds = deals(run, board)
    return [
        _play_table(seats, board, number, table, rounds)
        for number, table in enumerate(tables(run, board))
    ]


def _play_table(
    seats: Seats, board: int, number: int, table: Table, rounds: Sequence[Round]
) -> GameRecord:
    run = seats.run
    scores = [0] * run.players
    played = []
    for count, dealt in enumerate(rounds):
        stream = Rng(run.seed).split(STREAM_PLAYERS, board, number, count)
        seeds = [stream.split(seat).next64() for seat in range(run.players)]
        at_once = [seats.at_once[engine] for engine in table.engines]
        game = Game(count + 1, tuple(scores)) if run.unit == "game" else None
        if None in at_once:
            players = [seats.player(engine, seat) for seat, engine in enumerate(table.engines)]
            record = _play_round(dealt, players, seeds, game)
        else:
            record = _play_at_once(dealt, [pair for pair in at_once if pair], seeds)
        played.append(record)
        scores = [score + points for score, points in zip(scores, record.points, strict=True)]
    return GameRecord(
        players=tuple(run.engines[engine] for engine in table.engines),
        rounds=tuple(played),
        points=tuple(scores),
        seed=run.seed,
        forced_pass=run.forced_pass,
        board=board,
        engine_of_seat=list(table.engines),
        control=table.control,
        config=run.digest,
    )


def _play_at_once(
    dealt: Round, players: Sequence[tuple[str, float]], seeds: Sequence[int]
) -> RoundRecord:
    """A round between engines that decide at once, played in the core."""
    round_ = dealt.copy()
    names, costs = zip(*players, strict=True)
    codes = play_logged(round_, names, seeds, costs)
    return RoundRecord(
        start=dealt.start,
        deal=tuple(format_row(dealt.hand(seat)) for seat in range(dealt.players)),
        flips=tuple(code == FLIP_CODE for code in codes[: dealt.players]),
        moves=tuple(map(_token, codes[dealt.players :])),
        end=round_.end,
        points=round_.points(),
    )


_token = lru_cache(maxsize=1 << 16)(format_move)
FLIP_CODE = move_code(FLIP)


def _play_round(
    dealt: Round, players: Sequence[MatchPlayer], seeds: Sequence[int], game: Game | None
) -> RoundRecord:
    """A round between players of any kind; who fails forfeits it."""
    position = Position.from_round(dealt, game)
    began = [False] * len(players)
    while not position.is_over:
        seat = position.turn
        player = players[seat]
        try:
            if not began[seat]:
                player.new_round(seeds[seat])
                began[seat] = True
            if position.flipping:
                token = "flip" if player.flip(position) else "keep"
            else:
                token = player.choose(position, player.clock)
            position = position.play(token)
        except PlayerFailure as failure:
            return RoundRecord.from_position(position, Forfeit(seat, failure.why))
        except (NotationError, IllegalMoveError):
            return RoundRecord.from_position(position, Forfeit(seat, "illegal move"))
    return RoundRecord.from_position(position)
