"""Candidates played in the same seat of the same deals, against the same others.

The first candidate is the base: what the others gain on it is measured deal by deal, which takes
most of the luck out. The others at a table move by their own rules, inside the core; a candidate
is shown its seat's view and nothing else, unless it is the clairvoyant.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from bigtop.core.evaluate import Network
from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import Round, deal
from bigtop.engines import Engine, make_engine
from bigtop.notation import Game, Position
from bigtop.players import shown_to
from bigtop.weights import read_weights, shipped

# streams of a study's generator
DEALS, EARLIER, OTHERS = 1, 2, 3


@dataclass(frozen=True)
class Other:
    """A player that fills a table: `policy` is random, greedy, planner, learned, or the path of
    weights that the learned player is to have; `noise` is the chance of a random move."""

    policy: str
    scout: float = 1.0
    noise: float = 0.0


@dataclass(frozen=True)
class Study:
    """What is played: one board is a deal, with each candidate once in every seat.

    Attributes:
        candidates: engine specs, `clairvoyant` among them; the first is the base.
        others: who fills the table, by turns round it, a stride of them on each board.
        last_round_of: whether it is the last round of a game, after rounds between learned
            players; else it is played for itself.
    """

    players: int
    candidates: tuple[str, ...]
    others: tuple[Other, ...]
    seed: int
    last_round_of: bool = False


Points = list[list[list[int]]]
"""By candidate, by its seat: the points of all seats."""
Result = tuple[Points, list[int]]
"""Of a board: the points of the round, and those that the seats had before."""


@cache
def engine(spec: str) -> Engine:
    return make_engine(spec, cheats=True)


@cache
def network(file: str, players: int) -> Network:
    return shipped(players) if file == "learned" else read_weights(Path(file))


def other_move(other: Other, round_: Round, rng: Rng) -> int:
    """What a player of the table does."""
    if other.noise and rng.below(1000) < 1000 * other.noise:
        return choose(round_, "random", rng)
    if other.policy in ("random", "greedy", "planner"):
        return choose(round_, other.policy, rng, other.scout)
    return choose(round_, network(other.policy, round_.players), rng)


def board(study: Study, number: int) -> Result:
    """Play a board."""
    dealt = deal(study.players, Rng(study.seed).split(DEALS, number))
    scores = [0] * study.players
    if study.last_round_of:
        scores = earlier(study, number)
    out = []
    for spec in study.candidates:
        by_seat = []
        for seat in range(study.players):
            game = Game(study.players, tuple(scores)) if study.last_round_of else None
            by_seat.append(play(study, engine(spec), number, seat, dealt, game))
        out.append(by_seat)
    return out, scores


def earlier(study: Study, number: int) -> list[int]:
    """The points after all rounds of a game but the last, between learned players."""
    scores = [0] * study.players
    net = shipped(study.players)
    for count in range(study.players - 1):
        rng = Rng(study.seed).split(EARLIER, number, count)
        round_ = deal(study.players, rng)
        while not round_.end:
            round_.play(choose(round_, net, rng))
        scores = [score + more for score, more in zip(scores, round_.points(), strict=True)]
    return scores


def play(
    study: Study, candidate: Engine, number: int, seat: int, dealt: Round, game: Game | None
) -> list[int]:
    """The points of a round with the candidate in a seat."""
    position = Position.from_round(dealt, game)
    ply = 0
    while not position.is_over:
        ply += 1
        round_ = position.round
        rng = Rng(study.seed).split(OTHERS, number, seat).split(ply)
        if round_.turn == seat:
            shown = position if candidate.info.cheats else shown_to(position)
            token = candidate.answer(shown, rng.next64()).move
        else:
            other = study.others[(number + round_.turn - seat) % len(study.others)]
            token = position.token(other_move(other, round_, rng))
        position = position.play(token)
    return list(position.round.points())


def played(study: Study, boards: int, record: Path | None, workers: int) -> list[Result]:
    """All boards, those of the record first; it is written board by board, so that a study that
    was ended goes on from it."""
    done: dict[int, Result] = {}
    name = repr(study)
    if record is not None and record.exists():
        for line in record.read_text(encoding="utf-8").splitlines():
            found = json.loads(line)
            if found["study"] == name:
                done[found["board"]] = found["points"], found["scores"]
    left = [(study, number) for number in range(boards) if number not in done]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for (_, number), result in zip(left, pool.imap(_board, left), strict=True):
            done[number] = result
            if record is not None:
                row = {"study": name, "board": number, "points": result[0], "scores": result[1]}
                with record.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
            if sys.stderr.isatty():
                print(f"\r{len(done)} of {boards} boards", end="", file=sys.stderr, flush=True)
    return [done[number] for number in range(boards)]


def _board(asked: tuple[Study, int]) -> Result:
    return board(*asked)


def margin(points: Sequence[int], seat: int) -> float:
    """Points of a seat minus the mean of the others'."""
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)


def first(points: Sequence[int], seat: int) -> float:
    """The share of a seat in the first place."""
    best = max(points)
    return (points[seat] == best) / points.count(best)


def points_of(points: Sequence[int], seat: int) -> float:
    """Points of a seat."""
    return points[seat]


def by_board(
    results: Sequence[Result],
    candidate: int,
    measure: Callable[[Sequence[int], int], float],
) -> list[float]:
    """The mean over a candidate's seats of a measure of the final points, for each board."""
    return [
        statistics.fmean(
            measure([a + b for a, b in zip(points, scores, strict=True)], seat)
            for seat, points in enumerate(tables[candidate])
        )
        for tables, scores in results
    ]


def told(values: Sequence[float], factor: float = 1.0, digits: int = 2, sign: str = "+") -> str:
    """The mean with half of its 95% interval."""
    mean = factor * statistics.fmean(values)
    reach = factor * 1.96 * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:{sign}.{digits}f} ± {reach:.{digits}f}"


def helped(values: Sequence[float], base: Sequence[float], known: float) -> list[float]:
    """The values with the luck of the deals taken out as far as the base shows it (a control
    variate), where `known` is the base's mean over many other deals."""
    x, y = np.array(base), np.array(values)
    spread = float(np.var(x, ddof=1))
    slope = float(np.cov(x, y)[0, 1]) / spread if spread else 0.0
    return [float(value) for value in y - slope * (x - known)]
