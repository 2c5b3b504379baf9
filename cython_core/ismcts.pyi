from collections.abc import Sequence

from typing_extensions import disjoint_base

from bigtop.core.chain import Worlds
from bigtop.core.evaluate import Network
from bigtop.core.rng import Rng
from bigtop.core.search import Root
from bigtop.core.state import Round

@disjoint_base
class Ismcts(Root):
    def __init__(
        self,
        round_: Round,
        rng: Rng,
        scout_cost: float = 1.0,
        game: tuple[int, Sequence[int]] | None = None,
        trees: int = 4,
        memory: int = ...,
        explore: float = 1.0,
        widen: float = 0.5,
        worlds: Worlds | None = None,
        network: Network | None = None,
    ) -> None: ...
    @property
    def trees(self) -> int: ...
    @property
    def worlds(self) -> Worlds | None: ...
    @property
    def done(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    def run(self, tree: int, simulations: int) -> None: ...
    def variation(self, code: int, most: int = 8) -> list[tuple[int, bytes]]: ...
