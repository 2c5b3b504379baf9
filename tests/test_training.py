"""Self-play, learning and checkpoints: `bigtop train` and what is below it."""

from __future__ import annotations

import json
import math
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
import slow_evaluation as slow
from click.testing import CliRunner, Result
from helpers import CHECKED, sized
from numpy.typing import NDArray

from bigtop.cli.main import bigtop
from bigtop.core.evaluate import Network, inputs_after, rated_moves
from bigtop.core.policy import contest
from bigtop.core.rng import Rng
from bigtop.core.state import FLIP, KEEP, Round, deal, move_parts
from bigtop.core.train import Learner, Samples, play_samples
from bigtop.statistics import estimate
from bigtop.training import Plan, Training, begin, finish, load, save, strength, train
from bigtop.weights import WeightsError, read_header, read_weights, shipped

PROCESS = [sys.executable, "-c", "from bigtop.cli.main import main; main()", "train"]
UNIT = 8.0
"""Points to one unit of the network's output."""
SMALL = Plan(players=3, seed=5, rounds=400, lap=100, keep_every=0.3)
ALONE = {"alone": 1.0, "single": 0.0}
PLANNER = [("planner", 1.0)]

tables = pytest.mark.parametrize("players", [2, 3, 4, 5])


def trained(plan: Plan, folder: Path, threads: int = 1, laps: int | None = None) -> Training:
    """A training, to its end or after some laps."""
    training = begin(plan)
    for _ in islice(train(training, threads, folder / "checkpoint", tests=1), laps):
        pass
    return training


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Training:
    return trained(SMALL, tmp_path_factory.mktemp("undisturbed"))


def state_of(training: Training) -> tuple[object, ...]:
    """All of a training but its times."""
    curve = [{k: v for k, v in entry.items() if k != "seconds"} for entry in training.curve]
    return (
        training.plan,
        training.learner.dump(),
        training.laps,
        training.rounds,
        training.samples,
        training.explore,
        training.guests,
        training.player.weights,
        [net.weights for net in training.past],
        curve,
    )


# Targets --------------------------------------------------------------------------------------


def margin(points: tuple[int, ...], seat: int) -> float:
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)


def uniform(rng: Rng) -> float:
    return (rng.next64() >> 11) / 2.0**53


def slow_round(
    net: Network, stream: Rng, explore: float, trace: float
) -> list[tuple[list[int], float]]:
    """A round in which all seats learn: positions with their targets, in points."""
    players = net.players
    uniform(stream), stream.below(players), stream.below(1)  # who sits where
    round_ = deal(players, stream)
    decisions = []
    while not round_.end:
        seat = round_.turn
        rated = rated_moves(round_, net)
        best = max(value for _, value in rated)
        move, value = next(pair for pair in rated if pair[1] == best)
        if len(rated) > 1 and uniform(stream) < explore:
            move, value = rated[stream.below(len(rated))]
        after = round_.copy()
        after.play(move)
        here = round_ if move_parts(move).kind in (KEEP, FLIP) else after
        on = None if after.end else inputs_after(round_, move)
        decisions.append((seat, on, margin(here.points(), seat), best, value < best))
        round_ = after
    returns = [margin(round_.points(), seat) for seat in range(players)]
    found = []
    for seat, on, now, best, explored in reversed(decisions):
        if on is not None:
            found.append((on, returns[seat] - now))
        # what the decision before this one of the same seat aims at
        returns[seat] = best if explored else (1 - trace) * best + trace * returns[seat]
    return found[::-1]


@tables
@pytest.mark.parametrize(("explore", "trace"), [(0.0, 1.0), (0.2, 0.8), (1.0, 0.5), (0.1, 0.0)])
def test_positions_and_targets_are_those_of_the_slow_twin(
    players: int, explore: float, trace: float
) -> None:
    net = shipped(players)
    samples = play_samples(net, PLANNER, Rng(3), 4, 7, **ALONE, explore=explore, trace=trace)
    slowly = [
        position
        for number in range(4, 7)
        for position in slow_round(net, Rng(3).split(number), explore, trace)
    ]
    found = samples.positions()
    assert samples.rounds == 3
    assert len(samples) == len(found) == len(slowly)
    for (on, target), (slow_on, slow_target) in zip(found, slowly, strict=True):
        assert sorted(on) == sorted(slow_on)
        assert target == pytest.approx(slow_target, abs=1e-4)


def final_points(round_: Round, net: Network) -> tuple[int, ...]:
    """What the seats have when all play their best to the end."""
    while not round_.end:
        rated = rated_moves(round_, net)
        best = max(value for _, value in rated)
        round_.play(next(move for move, value in rated if value == best))
    return round_.points()


@tables
def test_without_mixing_the_target_is_the_final_margin(players: int) -> None:
    net = shipped(players)
    samples = play_samples(net, PLANNER, Rng(8), 0, 1, **ALONE, explore=0.0, trace=1.0)
    stream = Rng(8).split(0)
    uniform(stream), stream.below(players), stream.below(1)
    points = final_points(deal(players, stream), net)
    # keep or flip: there each seat has nothing but its cards, as many as the others
    targets = [target for _, target in samples.positions()][:players]
    assert targets == pytest.approx([margin(points, seat) for seat in range(players)], abs=1e-5)


def test_samples_do_not_depend_on_how_rounds_are_shared_out() -> None:
    def played(first: int, last: int) -> Samples:
        return play_samples(
            shipped(3), [("greedy", 1.0), (shipped(3), 1.0)], Rng(1), first, last,
            alone=0.3, single=0.4, explore=0.1, trace=0.8,
        )  # fmt: skip

    whole, parts = played(0, 40), Samples()
    for first in range(0, 40, 8):
        parts.extend(played(first, first + 8))
    assert parts.positions() == whole.positions()
    assert (parts.rounds, parts.moves) == (whole.rounds, whole.moves) == (40, whole.moves)


def test_guests_are_not_learned_from() -> None:
    def count(alone: float, single: float) -> int:
        played = play_samples(
            shipped(4), PLANNER, Rng(1), 0, 60, alone=alone, single=single, explore=0.0, trace=1.0
        )
        return len(played)

    one, some, all_ = count(0.0, 1.0), count(0.0, 0.0), count(1.0, 0.0)
    assert one < some < all_
    assert all_ / 6 < one < all_ / 2


def test_players_that_are_none_are_refused() -> None:
    def play(guests: list[tuple[str | Network, float]]) -> None:
        play_samples(shipped(3), guests, Rng(1), 0, 1, **ALONE, explore=0.0, trace=1.0)

    with pytest.raises(ValueError, match="expected random, greedy, planner or a network: 'best'"):
        play([("best", 1.0)])
    for number in (0, 17):
        with pytest.raises(ValueError, match=f"expected 1 to 16 guests: {number}"):
            play([("random", 1.0)] * number)


def test_samples_made_by_hand() -> None:
    samples = Samples()
    samples.append([3, 3, 7], 2.5)
    samples.append([], -4.0)
    assert len(samples) == 2
    assert samples.positions() == [([3, 3, 7], 2.5), ([], -4.0)]
    with pytest.raises(ValueError, match="expected inputs from 0 to 1535: 1536"):
        samples.append([1536], 0.0)
    assert len(samples) == 2


# Learning -------------------------------------------------------------------------------------

Floats = NDArray[np.float64]
WEIGHTS = np.dtype(
    [
        ("first", "<f4", (slow.INPUTS, slow.WIDE)),
        ("first_bias", "<f4", slow.WIDE),
        ("second", "<f4", (slow.WIDE, slow.NARROW)),
        ("second_bias", "<f4", slow.NARROW),
        ("third", "<f4", slow.NARROW),
        ("third_bias", "<f4"),
        ("unused", "<f4", 15),
    ]
)
"""The bytes of the weights that learn."""


def memory(learner: Learner, number: int) -> dict[str, Floats]:
    """One piece of a learner: 1 the weights, 2 their running mean, 3 and 4 Adam's moments."""
    raw = learner.dump()[number]
    assert isinstance(raw, bytes)
    (found,) = np.frombuffer(raw, WEIGHTS)
    return {name: found[name].astype(np.float64) for name in WEIGHTS.names or ()}


def loss(weights: dict[str, Floats], positions: list[tuple[list[int], float]]) -> float:
    """Half the mean squared error, in units of the network's output."""
    total = 0.0
    for on, target in positions:
        wide = np.clip(weights["first"][on].sum(axis=0) + weights["first_bias"], 0, 8)
        narrow = np.clip(wide @ weights["second"] + weights["second_bias"], 0, 32)
        out = float(narrow @ weights["third"] + weights["third_bias"])
        total += (out - target / UNIT) ** 2 / 2
    return total / len(positions)


def some_positions(size: int) -> list[tuple[list[int], float]]:
    choose = random.Random(2)
    return [
        (sorted(choose.choices(range(slow.INPUTS), k=40)), choose.uniform(-12, 12))
        for _ in range(size)
    ]


def samples_of(positions: list[tuple[list[int], float]]) -> Samples:
    samples = Samples()
    for on, target in positions:
        samples.append(on, target)
    return samples


def test_the_gradient_is_the_slope_of_the_error() -> None:
    learner, positions = Learner(4, Rng(1)), some_positions(6)
    weights = memory(learner, 1)
    said = learner.learn(samples_of(positions), Rng(1), batch=6, rate=1e-3, keep_mean=0.9)
    assert said == pytest.approx(2 * UNIT**2 * loss(weights, positions), rel=1e-4)
    # after one step the first moment is a tenth of the gradient
    gradient = {name: 10 * part for name, part in memory(learner, 3).items()}
    choose, checked = random.Random(1), 0
    used = sorted({number for on, _ in positions for number in on})
    for name in ("first", "first_bias", "second", "second_bias", "third", "third_bias"):
        part = np.atleast_1d(weights[name])
        for _ in range(25):
            at = tuple(choose.randrange(size) for size in part.shape)
            if name == "first":
                at = (choose.choice(used), at[1])
            slopes = []
            for step in (1e-5, -1e-5):
                changed = part.copy()
                changed[at] += step
                shaped = changed.reshape(weights[name].shape)
                slopes.append(loss(weights | {name: shaped}, positions))
            slope = (slopes[0] - slopes[1]) / 2e-5
            assert np.atleast_1d(gradient[name])[at] == pytest.approx(slope, rel=1e-3, abs=1e-5)
            checked += slope != 0
    assert checked > 60


def test_a_step_is_one_of_adam() -> None:
    learner, rate, keep = Learner(2, Rng(1)), 1e-2, 0.75
    samples = samples_of(some_positions(5))
    mean = memory(learner, 1)
    first = {name: np.zeros_like(part) for name, part in mean.items()}
    second = dict(first)
    for step in range(1, 4):
        weights, moment = memory(learner, 1), memory(learner, 3)
        learner.learn(samples, Rng(step), batch=99, rate=rate, keep_mean=keep)
        now, now_mean = memory(learner, 1), memory(learner, 2)
        for name, part in weights.items():
            gradient = (memory(learner, 3)[name] - 0.9 * moment[name]) / 0.1
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.999 * second[name] + 0.001 * gradient**2
            # where there is hardly a gradient, its rounding decides
            clear = second[name] > 1e-12
            change = rate * (first[name] / (1 - 0.9**step))
            change = change / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
            assert np.allclose((part - change)[clear], now[name][clear], atol=2e-5)
            mean[name] = keep * mean[name] + (1 - keep) * now[name]
            assert np.allclose(mean[name], now_mean[name], atol=1e-6)
    assert learner.steps == 3


def test_learning_the_same_again_lowers_the_error() -> None:
    learner, samples = Learner(3, Rng(4)), samples_of(some_positions(40))
    errors = [learner.learn(samples, Rng(k), batch=40, rate=1e-3, keep_mean=0.9) for k in range(60)]
    assert all(later < earlier for earlier, later in pairwise(errors))
    assert errors[-1] < errors[0] / 50
    assert learner.learn(Samples(), Rng(1), batch=4, rate=1e-3, keep_mean=0.9) == 0.0


def test_whole_numbers_say_what_the_mean_weights_say() -> None:
    learner, positions = Learner(3, Rng(4)), some_positions(30)
    for k in range(20):
        learner.learn(samples_of(positions), Rng(k), batch=8, rate=1e-3, keep_mean=0.9)
    mean, net = memory(learner, 2), learner.network()
    for on, _ in positions:
        # the error against a target of nothing is the output itself
        exact = math.sqrt(2 * loss(mean, [(on, 0.0)])) * UNIT
        assert abs(net.output(on)) / 65536 == pytest.approx(exact, abs=0.1)


def test_a_learner_comes_back_from_its_dump() -> None:
    one, other = Learner(5, Rng(1)), Learner(5, Rng(2))
    one.learn(samples_of(some_positions(9)), Rng(1), batch=4, rate=1e-3, keep_mean=0.9)
    assert one.steps == 3
    other.load(one.dump())
    for learner in (one, other):
        learner.learn(samples_of(some_positions(7)), Rng(3), batch=4, rate=1e-3, keep_mean=0.9)
    assert one.dump() == other.dump()
    for bad in (one.dump()[:4], [*one.dump()[:4], b"1234"]):
        with pytest.raises(ValueError, match="expected the state of a learner of this shape"):
            other.load(bad)


def test_no_learner_for_other_tables() -> None:
    with pytest.raises(ValueError, match="expected 2 to 5 players: 6"):
        Learner(6, Rng(1))


# Trainings ------------------------------------------------------------------------------------


def test_the_same_on_more_threads(undisturbed: Training, tmp_path: Path) -> None:
    assert undisturbed.done
    assert (undisturbed.laps, undisturbed.rounds, undisturbed.progress) == (4, 400, 1.0)
    assert len(undisturbed.past) == 2
    assert state_of(trained(SMALL, tmp_path, threads=2)) == state_of(undisturbed)


def test_other_seeds_train_other_weights(undisturbed: Training, tmp_path: Path) -> None:
    other = trained(replace(SMALL, seed=6), tmp_path)
    assert other.learner.network().weights != undisturbed.learner.network().weights


@pytest.mark.parametrize("laps", [1, 2, 3])
def test_a_stopped_training_goes_on_to_the_same_weights(
    laps: int, undisturbed: Training, tmp_path: Path
) -> None:
    file = tmp_path / "checkpoint"
    training = begin(SMALL)
    going = train(training, 1, file, tests=1)
    for _ in range(laps):
        next(going)
    going.close()
    again = load(file)
    assert state_of(again) == state_of(training)
    assert again.laps == laps
    for _ in train(again, 2, file, tests=1):
        pass
    assert state_of(again) == state_of(undisturbed)
    assert state_of(load(file)) == state_of(undisturbed)


@pytest.mark.parametrize("at", ["_learn_lap", "_count_rounds", "_look"])
def test_an_interrupt_in_a_lap_leaves_whole_laps(
    at: str, undisturbed: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bigtop.training as module

    inner: Callable[..., None] = getattr(module, at)
    calls = 0

    def interrupted(training: Training, *rest: object) -> None:
        nonlocal calls
        calls += 1
        inner(training, *rest)
        if calls == 3:
            training.laps += 100  # as if it had been half done
            raise KeyboardInterrupt

    file = tmp_path / "checkpoint"
    monkeypatch.setattr(module, at, interrupted)
    with pytest.raises(KeyboardInterrupt):
        for _ in train(begin(SMALL), 1, file, tests=1):
            pass
    monkeypatch.undo()
    again = load(file)
    assert again.laps == 2
    for _ in train(again, 1, file, tests=1):
        pass
    assert state_of(again) == state_of(undisturbed)


def test_rounds_are_whole_laps() -> None:
    assert begin(replace(SMALL, rounds=350)).rounds == 400


def test_minutes_make_rounds_once_the_first_laps_are_measured(tmp_path: Path) -> None:
    plan = Plan(players=2, seed=1, rounds=0, minutes=1e-6, lap=10)
    training = trained(plan, tmp_path, laps=19)
    assert (training.rounds, training.progress, training.done) == (0, 0.0, False)
    training = load(tmp_path / "checkpoint")
    for _ in train(training, 1, tmp_path / "checkpoint"):
        pass
    assert (training.rounds, training.laps, training.done) == (200, 20, True)


@pytest.mark.skipif(CHECKED, reason="minutes on the checked build; it measures strength")
def test_a_short_training_beats_planners(tmp_path: Path) -> None:
    plan = Plan(players=3, seed=1, rounds=sized(10000, 1000), lap=500, batch=64, keep_mean=0.99)
    net = trained(plan, tmp_path, threads=2).learner.network()
    gain, _, _ = strength(net, 200, 77)
    assert gain.mean is not None
    assert gain.se is not None
    if sized(1, 0):
        assert gain.mean > 1
        assert gain.mean > 5 * gain.se


def test_weights_tell_how_they_were_made(undisturbed: Training, tmp_path: Path) -> None:
    file = tmp_path / "three.weights"
    finish(undisturbed, file)
    assert read_weights(file).weights == undisturbed.learner.network().weights
    made = read_header(file, file.read_bytes())[0]["made"]
    assert isinstance(made, dict)
    assert made["seed"] == 5
    assert made["samples"] == undisturbed.samples
    assert made["curve"] == undisturbed.curve


# Contests -------------------------------------------------------------------------------------


@tables
@pytest.mark.parametrize("name", ["planner", "learned"])
def test_a_player_against_itself_gains_nothing(players: int, name: str) -> None:
    policy = (shipped(players) if name == "learned" else name, 1.0)
    boards = contest(policy, policy, players, Rng(5), 0, 40)
    # both play alike, so each round of a board is the same, and what one wins the others lose
    assert all(margin == pytest.approx(0, abs=1e-9) for margin, _, _ in boards)
    assert all(wins == pytest.approx(1 / players) for _, _, wins in boards)


@tables
def test_players_that_draw_gain_nothing_on_average(players: int) -> None:
    boards = contest(("greedy", 1.0), ("greedy", 1.0), players, Rng(6), 0, 300)
    gain = estimate([margin for margin, _, _ in boards])
    assert gain.mean is not None
    assert gain.se is not None
    assert abs(gain.mean) < 5 * gain.se + 1e-9


def test_boards_do_not_depend_on_the_range() -> None:
    asked = (("greedy", 1.0), ("planner", 1.5), 4, Rng(9))
    whole = contest(*asked, 3, 20)
    assert [*contest(*asked, 3, 4), *contest(*asked, 4, 11), *contest(*asked, 11, 20)] == whole
    assert contest(*asked, 5, 5) == []
    assert len(set(whole)) > 10


@tables
def test_a_board_is_one_round_for_every_seat(players: int) -> None:
    from bigtop.core.policy import choose

    (board,) = contest(("planner", 1.0), ("planner", 3.0), players, Rng(2), 7, 8)
    margins, own, wins = [], [], []
    for seat in range(players):
        round_ = deal(players, Rng(2).split(7))
        while not round_.end:
            cost = 1.0 if round_.turn == seat else 3.0
            round_.play(choose(round_, "planner", Rng(1), cost))
        points = round_.points()
        margins.append(margin(points, seat))
        own.append(points[seat])
        best = max(points)
        wins.append((points[seat] == best) / points.count(best))
    assert board == pytest.approx([sum(part) / players for part in (margins, own, wins)])


def test_contests_that_cannot_be_are_refused() -> None:
    planner = ("planner", 1.0)
    with pytest.raises(ValueError, match="expected 2 to 5 players: 6"):
        contest(planner, planner, 6, Rng(1), 0, 1)
    with pytest.raises(ValueError, match=r"expected a policy .*: 'best'"):
        contest(planner, ("best", 1.0), 3, Rng(1), 0, 1)
    with pytest.raises(ValueError, match="expected a network for 4 players: it is for 3"):
        contest((shipped(3), 1.0), planner, 4, Rng(1), 0, 1)


# Checkpoints ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkpoint(undisturbed: Training, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("checkpoint") / "checkpoint"
    save(undisturbed, file)
    return file.read_bytes()


def test_damage_is_never_taken_for_a_training(
    undisturbed: Training, checkpoint: bytes, tmp_path: Path
) -> None:
    choose, file = random.Random(1), tmp_path / "checkpoint"
    places = [*range(0, 200, 9), *range(len(checkpoint) - 700, len(checkpoint), 17)]
    places += [choose.randrange(len(checkpoint)) for _ in range(20)]
    refused = []
    for place in places:
        damaged = bytearray(checkpoint)
        damaged[place] ^= 1 << choose.randrange(8)
        file.write_bytes(damaged)
        try:
            found = load(file)
        except WeightsError as error:
            refused.append(str(error))
        else:  # a date in the archive, say
            assert state_of(found) == state_of(undisturbed)
    for message in refused:
        assert message.startswith("expected a checkpoint of this version (")
        assert message.endswith(f": {file}")
        assert "\n" not in message
    assert len(refused) > 20


class Trap:
    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


def test_nothing_in_a_checkpoint_is_executed(tmp_path: Path) -> None:
    file, sprung = tmp_path / "checkpoint", tmp_path / "sprung"
    with file.open("wb") as out:
        np.savez(out, about=np.array([Trap(sprung)], dtype=object))
    with pytest.raises(WeightsError, match="expected a checkpoint of this version"):
        load(file)
    assert not sprung.exists()


# The command ----------------------------------------------------------------------------------


def run(*args: str) -> Result:
    return CliRunner().invoke(bigtop, ["train", *args])


def one_line(result: Result) -> str:
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("bigtop: ")
    return line


def test_the_command_trains_and_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "two.weights"
    args = ["--players", "2", "--rounds", "1500", str(file)]
    result = run(*args, "--seed", "3", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    said = json.loads(result.stdout)
    assert list(said) == ["players", "seed", "rounds", "samples", "seconds", "plan", "curve"]
    assert (said["players"], said["seed"], said["rounds"]) == (2, 3, 2000)
    assert said["curve"][-1]["rounds"] == 2000
    weights = file.read_bytes()
    file.unlink()
    # done as it is, the same command writes the weights again; the seed is that of the checkpoint
    result = run(*args)
    assert result.exit_code == 0
    assert file.read_bytes() == weights
    last = said["curve"][-1]
    assert f"2000 rounds, {said['samples']} positions, " in result.stdout
    assert f"{last['margin']:+.2f} +- {1.96 * last['margin_se']:.2f} points a " in result.stdout


@pytest.mark.parametrize(
    ("args", "difference"),
    [
        (["--players", "4", "--rounds", "400"], "players is 3, not 4"),
        (["--players", "3", "--rounds", "400", "--seed", "6"], "seed is 5, not 6"),
        (["--players", "3", "--rounds", "401"], "rounds is 400, not 401"),
        (["--players", "3", "--minutes", "2"], "rounds is 400, not 0"),
        (["--players", "3", "--rounds", "400"], "lap is 100, not 1000"),
    ],
)
def test_a_checkpoint_of_another_training_is_refused(
    args: list[str], difference: str, checkpoint: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "three.weights"
    beside = tmp_path / "three.weights.checkpoint"
    beside.write_bytes(checkpoint)
    result = run(*args, str(file))
    assert result.exit_code == 2
    expected = f"bigtop: {beside}: expected a checkpoint of this training: {difference}"
    assert one_line(result) == expected
    assert beside.read_bytes() == checkpoint
    assert not file.exists()


@pytest.mark.parametrize("content", ["", "cut", "text"])
def test_a_damaged_checkpoint_is_refused(content: str, checkpoint: bytes, tmp_path: Path) -> None:
    bad = {"": b"", "cut": checkpoint[:-100], "text": b"hello\n"}[content]
    beside = tmp_path / "w.checkpoint"
    beside.write_bytes(bad)
    result = run("--players", "3", "--rounds", "400", str(tmp_path / "w"))
    assert result.exit_code == 2
    line = one_line(result)
    assert line.startswith("bigtop: expected a checkpoint of this version (")
    assert line.endswith(f": {beside}")
    assert beside.read_bytes() == bad


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "expected --minutes or --rounds, one of the two"),
        (["--minutes", "1", "--rounds", "5"], "expected --minutes or --rounds, one of the two"),
        (["--rounds", "0"], "'--rounds'"),
        (["--minutes", "0"], "'--minutes'"),
        (["--minutes", "inf"], "expected a number of minutes"),
        (["--minutes", "nan"], "expected a number of minutes"),
        (["--rounds", "5", "--threads", "0"], "'--threads'"),
        (["--rounds", "5", "--players", "6"], "'--players'"),
    ],
)
def test_bad_options_are_refused(args: list[str], message: str, tmp_path: Path) -> None:
    result = run("--players", "3", *args, str(tmp_path / "w"))
    assert result.exit_code == 2
    assert message in one_line(result)
    assert not any(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    result = run("--players", "3", "--rounds", "1", "--seed", "1", str(tmp_path / "none" / "w"))
    assert result.exit_code == 1
    assert "No such file or directory" in one_line(result)


def test_ctrl_c_keeps_a_checkpoint_and_says_how_to_go_on(tmp_path: Path) -> None:
    file, beside = tmp_path / "w", tmp_path / "w.checkpoint"
    child = subprocess.Popen(
        [*PROCESS, "--players", "2", "--rounds", "100000000", "--threads", "1", str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # tests in the background of a shell inherit that interrupts are ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(2.0)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    said, complaint = child.communicate(timeout=60)
    assert (child.returncode, said) == (130, "")
    drawn, line = complaint.splitlines()
    assert drawn.startswith("bigtop: seed ")
    training = load(beside)
    assert line.startswith("bigtop: interrupted (0%); to go on: bigtop train --players 2 ")
    assert line.endswith(f"{file} --seed {training.plan.seed}")
    assert not training.done
    assert not file.exists()
