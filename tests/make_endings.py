"""Makes ``vectors/endings.jsonl``: endings with the exact solver's answers.

    python tests/make_endings.py > tests/vectors/endings.jsonl

The rule by which an ending is there, and no other: rounds are played from the deals of the seeds
1, 2, 3, ... at every kind of table, each move the planner's or (one in `RANDOM_ONE_IN`) a random
one. Of each round, the last position is kept in which

- at most `MOST_CARDS` cards are left, in the hands and in the active set,
- the solver needs at least `LEAST_NODES` and at most `MOST_NODES` positions (fewer are endings in
  which there is next to nothing to see, more are too slow for a test),
- the value does not depend on the cut after 1000 moves (playouts are cut before),
- the best move is better than the second by at least one point of the own margin,

until there are `EACH` of every kind of table. No searcher is asked: what they cannot find stays.
"""

from __future__ import annotations

import json
import random

from helpers import TABLES, opening

from bigtop.core.endings import EndingTooBigError, Solution, solve, solve_all
from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import Round
from bigtop.notation import Position, format_move

EACH = 48
MOST_CARDS = 14
LEAST_NODES = 20
MOST_NODES = 6_000
RANDOM_ONE_IN = 5


def margin(points: tuple[int, ...], seat: int) -> float:
    """The points of a seat minus the mean of the others'."""
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)


def cards_left(round_: Round) -> int:
    return len(round_.active) + sum(len(round_.hand(seat)) for seat in range(round_.players))


def gap(round_: Round) -> float:
    """By how much the best move is better than the second for the seat to move, in points."""
    margins = sorted(margin(points, round_.turn) for _, points in solve_all(round_, MOST_NODES))
    return margins[-1] - margins[-2] if len(margins) > 1 else 0.0


def solved(round_: Round) -> Solution | None:
    """The solution of a position that the rule keeps."""
    if round_.end or round_.start >= 0 or cards_left(round_) > MOST_CARDS:
        return None
    try:
        found = solve(round_, MOST_NODES)
    except EndingTooBigError:
        return None
    if not found.settled or found.nodes < LEAST_NODES or gap(round_) < 1:
        return None
    return found


def ending(players: int, forced_pass: bool, seed: int) -> dict[str, object] | None:
    """The ending of the round of a seed, if it has one."""
    round_ = opening(players, seed, forced_pass)
    draw, rng = random.Random(seed), Rng(seed)
    line: dict[str, object] | None = None
    while not round_.end:
        found = solved(round_)
        if found is not None:
            line = {
                "position": str(Position.from_round(round_)),
                "move": format_move(found.move),
                "points": found.points,
                "nodes": found.nodes,
                "gap": round(gap(round_), 2),
            }
        policy = "planner" if draw.randrange(RANDOM_ONE_IN) else "random"
        round_.play(choose(round_, policy, rng))
    return line


def main() -> None:
    for players, forced_pass in TABLES:
        kept = seed = 0
        while kept < EACH:
            seed += 1
            line = ending(players, forced_pass, seed)
            if line is not None:
                kept += 1
                print(json.dumps(line))


if __name__ == "__main__":
    main()
