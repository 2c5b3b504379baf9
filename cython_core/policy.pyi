from collections.abc import Sequence
from typing import TypedDict, type_check_only

from bigtop.core.evaluate import Network
from bigtop.core.rng import Rng
from bigtop.core.state import Round

@type_check_only
class _Played(TypedDict):
    rounds: int
    moves: int
    cut: int
    points: list[int]

def choose(round_: Round, policy: str | Network, rng: Rng, scout_cost: float = 1.0) -> int: ...
def planner_values(round_: Round, scout_cost: float = 1.0) -> list[tuple[int, float]]: ...
def planner_h(hand: bytes) -> float: ...
def play_rounds(
    policies: Sequence[str | Network],
    rng: Rng,
    rounds: int,
    scout_costs: Sequence[float] | None = None,
) -> _Played: ...
def contest(
    a: tuple[str | Network, float],
    b: tuple[str | Network, float],
    players: int,
    rng: Rng,
    first: int,
    last: int,
) -> list[tuple[float, float, float]]: ...
def play_logged(
    round_: Round,
    policies: Sequence[str | Network],
    seeds: Sequence[int],
    scout_costs: Sequence[float] | None = None,
) -> list[int]: ...
