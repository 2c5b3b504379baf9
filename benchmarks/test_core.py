"""The compiled floor: comparing, listing, drawing, playing, sampling, counting."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
import twin
from measuring import CORE, PYTHON, Measure
from positions import PLAYERS, SEED, as_twin, beliefs, fresh, self_play, stream, views

from bigtop.core import bench
from bigtop.core.policy import play_rounds

players_each = pytest.mark.parametrize("players", PLAYERS)


@players_each
def test_compare_core(players: int, measure: Measure) -> None:
    """Is this span of the hand a set that beats the active set?"""
    rounds = self_play(players)
    measure(
        "compare sets",
        CORE,
        lambda: {"comparisons": bench.compare_repeatedly(rounds, 1000)[0]},
        players=players,
    )


@players_each
def test_compare_python(players: int, measure: Measure) -> None:
    rounds = [as_twin(round_) for round_ in self_play(players)]
    beating = 0

    def compare() -> Mapping[str, int]:
        nonlocal beating
        asked = beating = 0
        for round_ in rounds:
            values = twin.numbers(round_.hands[round_.turn])
            target = twin.numbers(round_.active)
            for first in range(len(values)):
                for last in range(first + 1, min(first + 10, len(values)) + 1):
                    block = values[first:last]
                    asked += 1
                    beating += twin.is_block(block) and twin.beats(block, target)
        return {"comparisons": asked}

    counts = measure("compare sets", PYTHON, compare, players=players)
    assert (counts["comparisons"], beating) == bench.compare_repeatedly(self_play(players), 1)


@players_each
def test_list_core(players: int, measure: Measure) -> None:
    """The moves of a position, one per outcome."""
    rounds = self_play(players)
    measure(
        "list moves",
        CORE,
        lambda: {"moves listed": bench.list_repeatedly(rounds, 1000)[0]},
        players=players,
    )


@players_each
def test_list_python(players: int, measure: Measure) -> None:
    rounds = [as_twin(round_) for round_ in self_play(players)]
    counts = measure(
        "list moves",
        PYTHON,
        lambda: {"moves listed": sum(len(round_.moves()) for round_ in rounds)},
        players=players,
    )
    assert counts["moves listed"] == bench.list_repeatedly(self_play(players), 1)[0]


@players_each
def test_random_move_core(players: int, measure: Measure) -> None:
    """A move drawn uniformly, one per outcome."""
    rounds = self_play(players)
    measure(
        "random move",
        CORE,
        lambda: {"moves drawn": bench.random_moves_repeatedly(rounds, stream(), 5000)[0]},
        players=players,
    )


@players_each
def test_random_move_python(players: int, measure: Measure) -> None:
    rounds = [as_twin(round_) for round_ in self_play(players)]

    def draw() -> Mapping[str, int]:
        rng = random.Random(SEED)
        return {"moves drawn": len([twin.random_move(round_, rng) for round_ in rounds])}

    measure("random move", PYTHON, draw, players=players)


def play_core(policy: str, players: int, rounds: int) -> Mapping[str, int]:
    played = play_rounds([policy] * players, stream(), rounds)
    return {"rounds": played["rounds"], "moves played": played["moves"]}


def play_python(policy: str, players: int, rounds: int) -> Mapping[str, int]:
    rng = random.Random(SEED)
    play = {"random": twin.random_round, "planner": twin.planner_round}[policy]
    return {
        "rounds": rounds,
        "moves played": sum(play(players, rng).made for _ in range(rounds)),
    }


@players_each
def test_random_rounds_core(players: int, measure: Measure) -> None:
    """Rounds from the deal, every choice uniformly at random."""
    measure("random play", CORE, lambda: play_core("random", players, 20_000), players=players)


@players_each
def test_random_rounds_python(players: int, measure: Measure) -> None:
    measure("random play", PYTHON, lambda: play_python("random", players, 4), players=players)


@players_each
def test_planner_rounds_core(players: int, measure: Measure) -> None:
    """Rounds from the deal between planners."""
    measure("planner play", CORE, lambda: play_core("planner", players, 2_500), players=players)


@players_each
def test_planner_rounds_python(players: int, measure: Measure) -> None:
    measure("planner play", PYTHON, lambda: play_python("planner", players, 4), players=players)


@players_each
def test_sample_core(players: int, measure: Measure) -> None:
    """A full round that agrees with what a seat knows."""
    known = beliefs(players)
    measure(
        "sample hands",
        CORE,
        lambda: {"samples": bench.sample_repeatedly(known, stream(), 1000)[0]},
        players=players,
    )


@players_each
def test_sample_python(players: int, measure: Measure) -> None:
    rounds = [as_twin(view) for view in views(players)]

    def draw() -> Mapping[str, int]:
        rng = random.Random(SEED)
        return {"samples": len([twin.sample(round_, rng) for round_ in rounds])}

    measure("sample hands", PYTHON, draw, players=players)


@players_each
def test_perft_core(players: int, measure: Measure) -> None:
    """Paths of three moves from fresh deals; the last move is counted, not played."""
    rounds = fresh(players)
    measure(
        "perft",
        CORE,
        lambda: {"nodes": sum(round_.perft(3) for round_ in rounds)},
        players=players,
    )


@players_each
def test_perft_python(players: int, measure: Measure) -> None:
    """Paths of two moves: a third would take minutes."""
    rounds = [as_twin(round_) for round_ in fresh(players)]
    counts = measure(
        "perft",
        PYTHON,
        lambda: {"nodes": sum(twin.perft(round_, 2) for round_ in rounds)},
        players=players,
    )
    assert counts["nodes"] == sum(round_.perft(2) for round_ in fresh(players))
