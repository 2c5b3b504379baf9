"""Print one number that only a change of behaviour moves.

Every build of the core must print the same: it takes in counts of paths, whole rounds, and what
each engine says to positions of 2 to 5 players.
"""

import hashlib

from bigtop.core.policy import choose, play_rounds
from bigtop.core.rng import Rng
from bigtop.core.state import deal
from bigtop.engines import ENGINES, make_engine
from bigtop.notation import Position

SEED = 1
PLIES = (2, 6, 12)  # positions of a round between planners that are looked at
SIMS = 300


def main() -> None:
    """Hash the answers."""
    found = hashlib.sha256()
    for players in (2, 3, 4, 5):
        for policy in ("random", "greedy", "planner"):
            found.update(repr(play_rounds([policy] * players, Rng(SEED), 50)).encode())
        rng = Rng(SEED).split(players)
        round_ = deal(players, rng)
        while not round_.end:
            if round_.start < 0 and round_.made in PLIES:
                found.update(repr(round_.divide(2)).encode())
                position = Position.from_round(round_.view(round_.turn))
                for name, info in ENGINES.items():
                    searches = any(option.name == "sims" for option in info.options)
                    engine = make_engine(name, sims=SIMS if searches else None)
                    answer = engine.answer(position, SEED)
                    found.update(repr((str(position), answer.lines)).encode())
            round_.play(choose(round_, "planner", rng))
    print(found.hexdigest()[:16])


main()
