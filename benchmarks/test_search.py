"""The searches as they are asked: one position after the other, one thread."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
import twin
from measuring import CORE, PYTHON, Measure
from positions import PLAYERS, SEED, searched

from bigtop.engines import make_engine

SIMS = 10_000
"""For the core, a position."""
PYTHON_SIMS = 3
"""For plain Python, a position."""

players_each = pytest.mark.parametrize("players", PLAYERS)


def answers(spec: str, players: int) -> Mapping[str, int]:
    engine = make_engine(spec, sims=SIMS)
    return {
        "simulations": sum(engine.answer(position, SEED).sims for position in searched(players))
    }


@players_each
def test_ismcts_core(players: int, measure: Measure) -> None:
    """Tree search with planners playing out, trees and answer included."""
    measure("ismcts", CORE, lambda: answers("ismcts", players), players=players, runs=3)


@players_each
def test_ismcts_python(players: int, measure: Measure) -> None:
    """A plain tree with the same playouts."""
    rounds = [twin.read_position(str(position)) for position in searched(players)]

    def search() -> Mapping[str, int]:
        rng = random.Random(SEED)
        for round_ in rounds:
            twin.ismcts(round_, PYTHON_SIMS, rng, playout=twin.planner)
        return {"simulations": PYTHON_SIMS * len(rounds)}

    measure("ismcts", PYTHON, search, players=players, runs=2)


@players_each
def test_flat_core(players: int, measure: Measure) -> None:
    """The planner's best moves played out side by side by planners."""
    measure("flat", CORE, lambda: answers("flat", players), players=players, runs=3)


@players_each
def test_flat_python(players: int, measure: Measure) -> None:
    """The planner's best moves, each played out by planners in the same sampled round."""
    rounds = [twin.read_position(str(position)) for position in searched(players)]

    def search() -> Mapping[str, int]:
        rng = random.Random(SEED)
        done = 0
        for round_ in rounds:
            ranked = sorted(twin.planner_values(round_), key=lambda line: -line[1])
            world = twin.sample(round_, rng)
            for token, _ in ranked[:PYTHON_SIMS]:
                twin.play_round(world.play(token), [twin.planner] * players, rng).points()
                done += 1
        return {"simulations": done}

    measure("flat", PYTHON, search, players=players, runs=2)
