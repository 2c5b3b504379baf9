from collections.abc import Sequence

from typing_extensions import disjoint_base

from bigtop.core.rng import Rng
from bigtop.core.search import Root
from bigtop.core.state import Round

@disjoint_base
class Maxn(Root):
    def __init__(
        self,
        round_: Round,
        rng: Rng,
        scout_cost: float = 1.0,
        game: tuple[int, Sequence[int]] | None = None,
        memory: int = ...,
        explore: float = 1.0,
        widen: float = 0.5,
    ) -> None: ...
    @property
    def done(self) -> int: ...
    @property
    def proven(self) -> bool: ...
    @property
    def nodes(self) -> int: ...
    def run(self, simulations: int) -> bool: ...
    def best(self) -> int: ...
    def variation(self, code: int, most: int = 8) -> list[int]: ...
