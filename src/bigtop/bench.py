"""How fast this build is, on this machine, and whether it plays as it should.

Everything is measured on the same positions, of 2 to 5 players and of all stages of a round:
they follow from seeds through the rules and the planner alone.  A metric is the rate of one kind
of work; `WORKS` is the table of them.

The *signature* is one number that takes in what is computed there: moves and their order, counts
of paths, draws, sampled hands, whole rounds between the players that decide at once, and what
every engine answers to fixed positions with a fixed budget.  Only a change of behaviour moves
it; the machine, the instruction set, the compiler and the number of threads do not.  Of an
answer it takes in whole numbers only: visits, the order of the moves, expected lines, and the
sums of outcomes.  Standard errors are left out, they decide nothing.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from bigtop.core import ISA, ISAS
from bigtop.core import bench as loops
from bigtop.core.belief import Belief
from bigtop.core.policy import choose, play_rounds
from bigtop.core.rng import Rng
from bigtop.core.state import Round, deal
from bigtop.engines import ENGINES, Line, make_engine
from bigtop.interrupts import held
from bigtop.notation import Game, Position

SIGNATURE = 9932737212723
"""The recorded signature, that of the source as it is here. A commit that changes behaviour on
purpose carries the new one: `bigtop bench --signature` prints it."""

PLAYERS = (2, 3, 4, 5)
STAGES = ("flip", "opening", "middle", "end")
SEED = 2024
AT_LEAST = 400
"""Positions for each number of players, from whole rounds."""
SHORTEST = 20
"""Moves of a round that has an opening, a middle and an end."""

SIGNATURE_SIMS = 400
"""Simulations of each search of the signature."""
SIGNATURE_ROUNDS = 50
"""Rounds of each policy and number of players in the signature."""

RUNS = {False: 15, True: 3}
"""How often each work is done, without and with `quick`."""
SEARCH_SIMS = 1000
"""Simulations for each position when searches are measured."""
MEMORY = 256
"""Megabytes that a search may use: the default of the command line, more than these budgets
fill."""

WIN_UNITS = 60
"""A win shared by up to five players is a whole number of these."""

MEGABYTE = 1 << 20
LONGEST_REPORT = MEGABYTE
"""Bytes of an earlier report that are read."""
LEAST_RATE, MOST_RATE = 1e-9, 1e18
"""What a report can say, so that every ratio is a number."""


# Positions --------------------------------------------------------------------------------------


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


class Searched(NamedTuple):
    """A position to search, as its seat sees it."""

    players: int
    stage: str
    position: Position


@cache
def searched() -> tuple[Searched, ...]:
    """A position of every stage of a round for every number of players."""
    found = []
    for players in PLAYERS:
        flips, moves = _first_long_round(players)
        chosen = (flips[players // 2], moves[1], moves[len(moves) // 2], moves[-3])
        found += [
            Searched(players, stage, Position.from_round(round_.view(round_.turn)))
            for stage, round_ in zip(STAGES, chosen, strict=True)
        ]
    return tuple(found)


def _first_long_round(players: int) -> tuple[list[Round], list[Round]]:
    """The positions before the choices of the flip phase and before the moves of a round."""
    number = 0
    while True:
        rng = stream(players, number)
        round_ = deal(players, rng)
        flips: list[Round] = []
        moves: list[Round] = []
        while not round_.end:
            (moves if round_.start < 0 else flips).append(round_.copy())
            round_.play(choose(round_, "planner", rng))
        if len(moves) >= SHORTEST:
            return flips, moves
        number += 1


# What is measured -------------------------------------------------------------------------------

Counts = tuple[int, ...]
"""How much was done, in the order of a work's metrics."""


@dataclass(frozen=True)
class Work:
    """Something to do over and over, and what of it is counted."""

    metrics: Mapping[str, str]
    """The names of the metrics that come out of it, with their units."""
    run: Callable[[int], Counts]
    """Does it once, with so many threads."""


def _loops(loop: Callable[[int, Rng], Counts]) -> Callable[[int], Counts]:
    """A loop of the core for each number of players. Every thread does all of it, with random
    numbers of its own. A loop takes some 20 ms, since an interrupt has to wait for it."""

    def run(threads: int) -> Counts:
        stop = threading.Event()

        def share(thread: int) -> Counts:
            done = [
                loop(players, stream(players, thread)) for players in PLAYERS if not stop.is_set()
            ]
            return _added(done)

        if threads == 1:
            return share(0)
        with held(stop.set), ThreadPoolExecutor(threads) as pool:
            try:
                return _added(list(pool.map(share, range(threads))))
            finally:
                stop.set()

    return run


def _added(counts: Sequence[Counts]) -> Counts:
    return tuple(sum(column) for column in zip(*counts, strict=True))


def _rounds(policy: str, players: int, rng: Rng, rounds: int) -> tuple[int, int]:
    """Play rounds between players of one kind; return the moves and the rounds."""
    played = play_rounds([policy] * players, rng, rounds)
    return played["moves"], played["rounds"]


def _searches(name: str) -> Callable[[int], Counts]:
    """Every position of `searched` answered by an engine."""

    def run(threads: int) -> Counts:
        engine = make_engine(name, sims=SEARCH_SIMS)
        answers = [engine.answer(each.position, SEED, threads, MEMORY) for each in searched()]
        return (sum(answer.sims for answer in answers),)

    return run


def searching() -> list[str]:
    """The engines that have a budget in simulations."""
    return [name for name, info in ENGINES.items() if any(o.name == "sims" for o in info.options)]


WORKS: tuple[Work, ...] = (
    Work(
        {"moves_listed": "moves/s"},
        _loops(lambda players, rng: loops.list_repeatedly(self_play(players), 200)[:1]),
    ),
    Work(
        {"moves_drawn": "moves/s"},
        _loops(
            lambda players, rng: loops.random_moves_repeatedly(self_play(players), rng, 800)[:1]
        ),
    ),
    Work(
        {"random_moves": "moves/s", "random_rounds": "rounds/s"},
        _loops(lambda players, rng: _rounds("random", players, rng, 4000)),
    ),
    Work(
        {"planner_rounds": "rounds/s"},
        _loops(lambda players, rng: _rounds("planner", players, rng, 800)[1:]),
    ),
    Work(
        {"samples": "samples/s"},
        _loops(lambda players, rng: loops.sample_repeatedly(beliefs(players), rng, 800)[:1]),
    ),
    *(Work({name: "simulations/s"}, _searches(name)) for name in searching()),
)
"""All that is measured; engines that search are in it by being in `ENGINES`."""


# The signature ----------------------------------------------------------------------------------


def signature(
    threads: int = 1, specs: Sequence[str] | None = None, sims: int = SIGNATURE_SIMS
) -> int:
    """The number that only a change of behaviour moves.

    Args:
        threads: of the searches; makes no difference.
        specs: the engines that are asked; None for all there are.
        sims: budget of those that search.

    Returns:
        0 to 2**48 - 1: every reader of JSON keeps all of its digits.
    """
    found = hashlib.sha256()
    for players in PLAYERS:
        for item in _rules(players):
            found.update(repr(item).encode())
    for number, each in enumerate(searched()):
        position = each.position
        if number % 2:  # the chance to win a game has a way of its own through a search
            game = Game(1 + number % each.players, tuple(range(-1, each.players - 1)))
            position = Position.from_round(position.round, game)
        for spec in ENGINES if specs is None else specs:
            budget = sims if spec.partition(":")[0] in searching() else None
            answer = make_engine(spec, sims=budget).answer(position, SEED + number, threads, MEMORY)
            lines = [_whole(line, each.players) for line in answer.lines]
            found.update(repr((spec.partition(":")[0], answer.move, lines)).encode())
    return int.from_bytes(found.digest()[:6], "big")


def _rules(players: int) -> list[object]:
    """Something of all that is computed without a search."""
    rounds, rng = self_play(players), stream(players)
    found: list[object] = [
        sorted(play_rounds([policy] * players, stream(players), SIGNATURE_ROUNDS).items())
        for policy in ("random", "greedy", "planner")
    ]
    found += [loops.list_repeatedly(rounds, 1), loops.random_moves_repeatedly(rounds, rng, 1)]
    found += [loops.sample_repeatedly(beliefs(players), rng, 1)]
    found += [(round_.moves(), round_.divide(2)) for round_ in rounds[:: AT_LEAST // 8]]
    return found


def _whole(line: Line, players: int) -> tuple[object, ...]:
    """A line of an answer in whole numbers: the sums from which its means were made."""
    means = (line.points, line.margin, line.win)
    units = (1, players - 1, WIN_UNITS)
    sums = [
        None if mean is None else round(mean * line.visits * unit)
        for mean, unit in zip(means, units, strict=True)
    ]
    return (line.move, line.visits, line.pv, *sums)


# The measurement --------------------------------------------------------------------------------


class Bench:
    """A measurement; it can be asked for what it knows at any time.

    Every work is done once before any is done again, so that what else the machine does in the
    meantime touches all of them.

    Args:
        threads: of the searches, and loops of the core at a time.
        quick: fewer runs.
        runs: how often each work is done instead; 0 for the signature alone.
    """

    def __init__(self, threads: int = 1, quick: bool = False, runs: int | None = None) -> None:
        self.threads = threads
        self.runs = RUNS[quick] if runs is None else runs
        self.seconds = 0.0
        self.signature: int | None = None
        self.rates: dict[str, list[float]] = {
            name: [] for work in WORKS for name in work.metrics if self.runs
        }

    def run(self, tell: Callable[[str], object] = lambda doing: None) -> None:
        """Do it all; `tell` is called with what is going to be done."""
        started = time.perf_counter()
        try:
            tell("signature")
            self.signature = signature(self.threads)
            for run in range(self.runs):
                for work in WORKS:
                    tell(f"run {run + 1} of {self.runs}: {', '.join(work.metrics)}")
                    began = time.perf_counter()
                    counts = work.run(self.threads)
                    took = time.perf_counter() - began
                    for name, count in zip(work.metrics, counts, strict=True):
                        self.rates[name].append(count / took)
        finally:
            self.seconds = time.perf_counter() - started

    def report(self) -> dict[str, Any]:
        """What is known, as `bigtop bench --json` prints it; see `bigtop bench --help`."""
        return {
            "signature": self.signature,
            "recorded": SIGNATURE,
            "threads": self.threads,
            "runs": self.runs,
            "isa": ISA,
            "isas": list(ISAS),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "metrics": {
                name: {
                    "value": statistics.median(self.rates[name]),
                    "unit": unit,
                    "min": min(self.rates[name]),
                    "max": max(self.rates[name]),
                    "runs": len(self.rates[name]),
                }
                for work in WORKS
                for name, unit in work.metrics.items()
                if self.rates.get(name)
            },
            "peak_memory": {"value": peak_memory(), "unit": "MB"},
            "seconds": self.seconds,
        }


def peak_memory() -> float:
    """The most memory that this process has had at a time, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / MEGABYTE if sys.platform == "darwin" else most / 1024  # bytes there


# Comparison -------------------------------------------------------------------------------------


class ReportError(ValueError):
    """A text that is not what `bigtop bench --json` prints."""


def read_report(text: str) -> dict[str, Any]:
    """An earlier report, from its text.

    Raises:
        ReportError: it is none.
    """
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"expected one JSON object: {_brief(text)}") from error
    if not isinstance(report, dict):
        raise ReportError(f"expected one JSON object: {_brief(text)}")
    for key in ("signature", "threads"):
        if type(report.get(key)) is not int:
            raise ReportError(f"expected a whole number for {key!r}: {_brief(report.get(key))}")
    isa = report.get("isa", ISA)
    if not isinstance(isa, str) or not re.fullmatch(r"[a-z0-9]{1,20}", isa):
        raise ReportError(f"expected a build of the core for 'isa': {_brief(isa)}")
    metrics = report.get("metrics")
    if not isinstance(metrics, dict):
        raise ReportError(f"expected an object for 'metrics': {_brief(metrics)}")
    for name, metric in metrics.items():
        if not isinstance(metric, dict) or not isinstance(metric.get("unit"), str):
            raise ReportError(f"expected value and unit for {_brief(name)}: {_brief(metric)}")
        for key in ("value", "min", "max"):
            rate: Any = metric.get(key, metric.get("value"))
            known = isinstance(rate, int | float) and not isinstance(rate, bool)
            if not known or not LEAST_RATE <= rate <= MOST_RATE:
                raise ReportError(
                    f"expected {LEAST_RATE:g} to {MOST_RATE:g} for {key!r} of {_brief(name)}: "
                    f"{_brief(rate)}"
                )
    return report


def _brief(found: object) -> str:
    text = repr(found)
    return text if len(text) <= 60 else text[:57] + "..."


def compare(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """What has changed from one report to another.

    Returns:
        `same_signature`; `ratios`: now over before of each metric that both have, as `value` of
        the medians, as `fastest` of the fastest runs (which a busy machine changes least), and
        as `min` and `max` of the slowest run of one and the fastest of the other;
        `unlike`: what else differs, {name: [before, now]}, so that the ratios say less.
    """
    ratios = {}
    for name, metric in now["metrics"].items():
        other = before["metrics"].get(name)
        if other is None or other["unit"] != metric["unit"]:
            continue
        ratios[name] = {
            "value": metric["value"] / other["value"],
            "fastest": metric["max"] / other.get("max", other["value"]),
            "min": metric["min"] / other.get("max", other["value"]),
            "max": metric["max"] / other.get("min", other["value"]),
        }
    return {
        "same_signature": now["signature"] == before["signature"],
        "ratios": ratios,
        "unlike": {
            key: [before[key], now[key]]
            for key in ("threads", "isa")
            if key in before and before[key] != now[key]
        },
    }
