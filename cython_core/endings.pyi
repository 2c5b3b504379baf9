from typing import NamedTuple

from bigtop.core.state import Round

class EndingTooBigError(ValueError): ...

class Solution(NamedTuple):
    move: int
    points: tuple[int, ...]
    nodes: int
    depth: int
    settled: bool

def solve(round_: Round, nodes: int = 1_000_000, kind: bool = False) -> Solution: ...
def solve_all(
    round_: Round, nodes: int = 1_000_000, kind: bool = False, folded: bool = True
) -> list[tuple[int, tuple[int, ...]]]: ...
