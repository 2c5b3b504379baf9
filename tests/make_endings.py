"""Makes ``vectors/endings.jsonl``: endings with the exact solver's answers.

    python tests/make_endings.py > tests/vectors/endings.jsonl

The rule by which an ending is there, and no other: rounds are played from the deals of the seeds
1, 2, 3, ... at every kind of table, each move the planner's or (one in `RANDOM_ONE_IN`) a random
one. Of each round, the first position is kept in which

- at most `MOST_CARDS` cards are left, in the hands and in the active set,
- the solver needs at least `LEAST_NODES` and at most `MOST_NODES` positions (fewer are endings in
  which there is next to nothing to see, more are too slow for a test),
- the value does not depend on the cut after 1000 moves (playouts are cut before),
- the best move is better than the second by at least `LEAST_GAP` points of the own margin, under
  either tie rule (else a searcher may be right that takes the others' ties otherwise),

until there are `EACH` of every kind of table; then, since the planner finds most of these, as many
(of later seeds) in which the planner's move is another. No searcher is asked: what they cannot
find stays.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from helpers import TABLES, opening

from bigtop.core.endings import EndingTooBigError, solve, solve_all
from bigtop.core.policy import choose
from bigtop.core.rng import Rng
from bigtop.core.state import Round
from bigtop.notation import Position, format_move

EACH = 30
MOST_CARDS = 14
LEAST_NODES = 20
MOST_NODES = 10_000
LEAST_GAP = 1.0
RANDOM_ONE_IN = 5


def margin(points: tuple[int, ...], seat: int) -> float:
    """The points of a seat minus the mean of the others'."""
    return points[seat] - (sum(points) - points[seat]) / (len(points) - 1)


def gap(round_: Round, kind: bool = False) -> float:
    """By how much the best move is better than the second for the seat to move, in points."""
    moves = solve_all(round_, MOST_NODES, kind)
    margins = sorted(margin(points, round_.turn) for _, points in moves)
    return margins[-1] - margins[-2] if len(margins) > 1 else 0.0


def ending(round_: Round) -> dict[str, object] | None:
    """The line of a position that the rule keeps, whatever the planner plays there."""
    cards = len(round_.active) + sum(len(round_.hand(seat)) for seat in range(round_.players))
    if round_.start >= 0 or cards > MOST_CARDS:
        return None
    try:
        found = solve(round_, MOST_NODES)
    except EndingTooBigError:
        return None
    if not found.settled or found.nodes < LEAST_NODES or gap(round_) < LEAST_GAP:
        return None
    other = solve(round_, MOST_NODES, kind=True)
    if not other.settled or other.move != found.move or gap(round_, kind=True) < LEAST_GAP:
        return None
    return {
        "position": str(Position.from_round(round_)),
        "move": format_move(found.move),
        "points": found.points,
        "nodes": found.nodes,
        "gap": round(gap(round_), 2),
        "planner": format_move(choose(round_, "planner", Rng(0))),
    }


def endings(players: int, forced_pass: bool, seed: int) -> Iterator[dict[str, object]]:
    """The lines of the round of a seed, first position first."""
    round_ = opening(players, seed, forced_pass)
    draw, rng = random.Random(seed), Rng(seed)
    while not round_.end:
        line = ending(round_)
        if line is not None:
            yield line
        policy = "planner" if draw.randrange(RANDOM_ONE_IN) else "random"
        round_.play(choose(round_, policy, rng))


def main() -> None:
    for players, forced_pass in TABLES:
        seed = 0
        for hard in (False, True):
            kept = 0
            while kept < EACH:
                seed += 1
                for line in endings(players, forced_pass, seed):
                    if not hard or line["move"] != line["planner"]:
                        print(json.dumps(line), flush=True)
                        kept += 1
                        break


if __name__ == "__main__":
    main()
