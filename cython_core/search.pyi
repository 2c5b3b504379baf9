from collections.abc import Sequence

from typing_extensions import disjoint_base

from bigtop.core.evaluate import Network
from bigtop.core.rng import Rng
from bigtop.core.state import Round

@disjoint_base
class Root:
    def __init__(
        self,
        round_: Round,
        rng: Rng,
        scout_cost: float = 1.0,
        game: tuple[int, Sequence[int]] | None = None,
        network: Network | None = None,
    ) -> None: ...
    @property
    def network(self) -> Network | None: ...
    @property
    def rated(self) -> int: ...
    def moves_ranked(self) -> list[int]: ...
    def values_ranked(self) -> list[float]: ...
    def lines(
        self,
    ) -> list[
        tuple[int, int, float | None, float | None, float | None, float | None, float | None]
    ]: ...
