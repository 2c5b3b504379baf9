"""Training of the learned evaluation: self-play, learning, checkpoints, the live strength.

Play and learning overlap: while the learner takes in the rounds of one lap, the next lap is
played by the weights from before. Which weights play which round follows from the lap
numbers alone, so a training is the same on any number of threads, and goes on from a
checkpoint to the same weights, to the bit, as if it had never stopped (on one kind of
machine: learning is in floating point).
"""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from bigtop.core.evaluate import INPUTS_VERSION, Network
from bigtop.core.policy import contest
from bigtop.core.rng import Rng
from bigtop.core.train import Learner, Samples, play_samples
from bigtop.interrupts import held, waited
from bigtop.statistics import Estimate, estimate
from bigtop.weights import WeightsError, replace, write_weights

CHECKPOINT_VERSION = 2
PIECE = 50  # rounds played in one go on a thread
MEASURED_LAPS = 20  # after so many the number of rounds that fit into the minutes is known
TEST_BOARDS = 500  # of the live strength figure
TEST_SEED = 20_000_000_001  # of its deals, which no training plays
GUESTS = (
    *[("planner", 1.0)] * 7,
    ("planner", 1.5),
    ("planner", 3.0),
    ("greedy", 1.0),
)
"""Who else sits at the tables, beside earlier weights: policy and the planner's Scout cost."""


@dataclass(frozen=True)
class Plan:
    """What a training does; the defaults made the weights that ship."""

    players: int
    """2 to 5."""
    seed: int
    """Of the first weights and of all rounds, 0 to 2**64 - 1."""
    rounds: int
    """How many are played in all, rounded up to whole laps; 0 when `minutes` decide."""
    minutes: float = 0.0
    """The first laps tell how many rounds fit into so many minutes."""
    lap: int = 1000
    """Rounds between two changes of the weights that play."""
    batch: int = 256
    """Positions a step of the optimiser."""
    rate: float = 1e-3
    """The optimiser's step at the start; it falls along a half cosine."""
    last_rate: float = 2e-5
    """What is left of it at the end."""
    keep_mean: float = 0.999
    """How much of the mean weights, which play and are shipped, stays at each step."""
    trace: float = 0.8
    """Lambda of the returns."""
    explore: float = 0.1
    """Chance of a random candidate at the start."""
    last_explore: float = 0.02
    """The same at the end."""
    alone: float = 0.15
    """Share of rounds in which all seats learn."""
    single: float = 0.6
    """Share of rounds with one learner at a table of one kind of guest."""
    keep_every: float = 0.15
    """Share of the training after which the weights join the guests."""


@dataclass
class Training:
    """A training as it stands after some laps."""

    plan: Plan
    learner: Learner
    laps: int = 0
    """Laps learned."""
    rounds: int = 0
    """How many there will be in all, 0 as long as that is not known."""
    samples: int = 0
    """Positions learned."""
    seconds: float = 0.0
    """Time spent, in all sessions together."""
    player: Network = field(init=False)
    """The weights that play the next lap: from before the last lap was learned."""
    explore: float = field(init=False)
    """Chance of a random candidate in the next lap, set at that time too."""
    guests: int = 0
    """How many of `past` are guests in the next lap, set at that time too."""
    past: list[Network] = field(default_factory=list)
    """Earlier weights among the guests."""
    curve: list[dict[str, float]] = field(default_factory=list)
    """The live strength: rounds, samples, seconds, margin, margin_se, win, error."""

    def __post_init__(self) -> None:
        self.player = self.learner.network()
        self.explore = self.plan.explore
        self.rounds = self.rounds or -(-self.plan.rounds // self.plan.lap) * self.plan.lap

    @property
    def done(self) -> bool:
        """Whether all rounds are learned."""
        return 0 < self.rounds <= self.laps * self.plan.lap

    @property
    def progress(self) -> float:
        """The share of the rounds that are learned, 0 as long as that is not known."""
        return min(1.0, self.laps * self.plan.lap / self.rounds) if self.rounds else 0.0


def begin(plan: Plan) -> Training:
    """A training before its first lap."""
    return Training(plan, Learner(plan.players, Rng(plan.seed).split(0)))


def train(
    training: Training,
    threads: int,
    checkpoint: Path,
    every: float = 60.0,
    tests: int = 40,
) -> Generator[Training, None, None]:
    """Train to the end; the training is yielded after each lap.

    Args:
        training: goes on from where it stands.
        threads: how many may work at a time.
        checkpoint: written every so many seconds, and at the end; leaving early, by whatever
            exception, writes it as it was after the last whole lap.
        every: seconds between checkpoints.
        tests: how often the strength is measured, evenly over the training.

    Raises:
        OSError: the checkpoint cannot be written.
    """
    written = time.monotonic()
    before = None  # how the training stood, while a lap is taken in
    with ThreadPoolExecutor(max(1, threads)) as pool:
        try:
            coming = _play_lap(training, training.laps, _next_tables(training), pool)
            while not training.done:
                began = time.monotonic()
                lap = _gathered(coming)
                tables = _tables(training)
                coming = _play_lap(training, training.laps + 1, tables, pool)
                if threads == 1:
                    wait_for(coming)
                before = _standing(training)
                _learn_lap(training, lap)
                training.player, training.explore, training.guests = tables
                training.seconds += time.monotonic() - began
                _count_rounds(training)
                _look(training, tests)
                before = None
                yield training
                if time.monotonic() - written > every:
                    save(training, checkpoint)
                    written = time.monotonic()
        finally:
            with held():
                # an interrupt comes in the midst of learning, or between that and counting
                if before is not None:
                    _stand(training, before)
                save(training, checkpoint)
                pool.shutdown(cancel_futures=True)


NUMBERS = ("laps", "rounds", "samples", "seconds", "explore", "guests")


def _standing(training: Training) -> tuple[list[int | bytes], dict[str, object]]:
    """All that a lap changes."""
    numbers = {key: getattr(training, key) for key in (*NUMBERS, "player")}
    lists = {"past": list(training.past), "curve": list(training.curve)}
    return training.learner.dump(), numbers | lists


def _stand(training: Training, before: tuple[list[int | bytes], dict[str, object]]) -> None:
    """Put a training back to where it stood."""
    memories, rest = before
    training.learner.load(memories)
    for key, value in rest.items():
        setattr(training, key, value)


def wait_for(pieces: list[Future[Samples]]) -> None:
    """Wait until all pieces are played."""
    for piece in pieces:
        waited(piece)


Tables = tuple[Network, float, int]
"""Who plays a lap: the learner's weights, its chance of a random candidate, and how many of its
earlier weights are guests."""


def _tables(training: Training) -> Tables:
    """The tables of a lap that begins now."""
    plan = training.plan
    explore = plan.explore + (plan.last_explore - plan.explore) * training.progress
    return training.learner.network(), explore, len(training.past)


def _next_tables(training: Training) -> Tables:
    """Those of the next lap, which began before the last one was learned."""
    return training.player, training.explore, training.guests


def _play_lap(
    training: Training, lap: int, tables: Tables, pool: ThreadPoolExecutor
) -> list[Future[Samples]]:
    """Start to play a lap, in pieces."""
    plan = training.plan
    player, explore, guests_count = tables
    rng = Rng(plan.seed).split(1)
    guests: list[tuple[str | Network, float]] = list(GUESTS)
    guests += [(network, 1.0) for network in training.past[:guests_count]]
    first = lap * plan.lap

    def piece(start: int) -> Samples:
        return play_samples(
            player,
            guests,
            rng,
            start,
            min(start + PIECE, first + plan.lap),
            alone=plan.alone,
            single=plan.single,
            explore=explore,
            trace=plan.trace,
        )

    with held():
        return [pool.submit(piece, start) for start in range(first, first + plan.lap, PIECE)]


def _gathered(pieces: list[Future[Samples]]) -> Samples:
    whole = Samples()
    for piece in pieces:
        whole.extend(waited(piece))
    return whole


def _learn_lap(training: Training, lap: Samples) -> None:
    plan, share = training.plan, training.progress
    rate = plan.last_rate + (plan.rate - plan.last_rate) * (1 + math.cos(math.pi * share)) / 2
    rng = Rng(plan.seed).split(2).split(training.laps)
    training.learner.learn(lap, rng, batch=plan.batch, rate=rate, keep_mean=plan.keep_mean)
    training.laps += 1
    training.samples += len(lap)
    kept = len(training.past)
    if training.progress > plan.keep_every * (kept + 1) and training.progress < 1:
        training.past.append(training.learner.network())


def _count_rounds(training: Training) -> None:
    """Once the first laps are measured, say how many rounds fit into the minutes."""
    plan = training.plan
    if training.rounds == 0 and training.laps == MEASURED_LAPS:
        laps = max(MEASURED_LAPS, round(plan.minutes * 60 / (training.seconds / training.laps)))
        training.rounds = laps * plan.lap


def _look(training: Training, tests: int) -> None:
    """Measure the strength when it is time to."""
    if not tests or not training.rounds:
        return
    laps = -(-training.rounds // training.plan.lap)
    if training.laps % max(1, laps // tests) and not training.done:
        return
    margin, _, win = strength(training.learner.network(), TEST_BOARDS, TEST_SEED)
    training.curve.append(
        {
            "rounds": training.laps * training.plan.lap,
            "samples": training.samples,
            "seconds": round(training.seconds, 3),
            "margin": margin.mean or 0.0,
            "margin_se": margin.se or 0.0,
            "win": win.mean or 0.0,
        }
    )


def finish(training: Training, file: Path) -> None:
    """Write the weights of a training that is done.

    Raises:
        OSError: they cannot be written.
    """
    made = {
        **asdict(training.plan),
        "rounds": training.rounds,
        "samples": training.samples,
        "seconds": round(training.seconds),
        "curve": training.curve,
    }
    write_weights(file, training.learner.network(), made)


def strength(network: Network, boards: int, seed: int) -> tuple[Estimate, Estimate, Estimate]:
    """How weights do, one move deep, in one seat against a table of planners.

    Args:
        boards: each is one deal, played once for every seat.
        seed: of the deals.

    Returns:
        margin, points, share of wins, by board.
    """
    played = []
    for first in range(0, boards, PIECE):  # an interrupt waits for a piece
        last = min(first + PIECE, boards)
        learned, planner = (network, 1.0), ("planner", 1.0)
        played += contest(learned, planner, network.players, Rng(seed), first, last)
    margins, points, wins = zip(*played, strict=True)
    return estimate(margins), estimate(points), estimate(wins)


MEMORIES = ("weights", "mean_weights", "first_moment", "second_moment")


def save(training: Training, file: Path) -> None:
    """Write a checkpoint; the one before stays whole until the new one is.

    Raises:
        OSError: it cannot be written.
    """
    steps, *memories = training.learner.dump()
    about = {
        "bigtop-training": CHECKPOINT_VERSION,
        "inputs": INPUTS_VERSION,
        "plan": asdict(training.plan),
        "steps": steps,
        **{key: getattr(training, key) for key in (*NUMBERS, "curve")},
    }
    arrays: dict[str, Any] = {
        name: np.frombuffer(cast("bytes", memory), "<f4")
        for name, memory in zip(MEMORIES, memories, strict=True)
    }
    networks = [training.player, *training.past]
    out = io.BytesIO()
    np.savez(
        out,
        about=np.frombuffer(json.dumps(about).encode(), np.uint8),
        networks=np.frombuffer(b"".join(net.weights for net in networks), np.uint8),
        **arrays,
    )
    replace(file, out.getvalue())


def load(file: Path) -> Training:
    """A training as a checkpoint has it; nothing in it is executed.

    Raises:
        WeightsError: it is no checkpoint of this version.
        OSError: it cannot be read.
    """
    content = file.read_bytes()
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            if (about["bigtop-training"], about["inputs"]) != (CHECKPOINT_VERSION, INPUTS_VERSION):
                raise ValueError("another version")
            training = begin(Plan(**about["plan"]))
            training.learner.load([about["steps"], *(arrays[name].tobytes() for name in MEMORIES)])
            weights = arrays["networks"].tobytes()
        for key in (*NUMBERS, "curve"):
            setattr(training, key, about[key])
        size = len(training.player.weights)
        training.player, *training.past = (
            Network(training.plan.players, weights[at : at + size])
            for at in range(0, len(weights), size)
        )
    except Exception as error:  # what zipfile and NumPy raise for damage is of many kinds
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise WeightsError(f"expected a checkpoint of this version ({reason}): {file}") from None
    return training
