from collections.abc import Sequence

from typing_extensions import disjoint_base

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
    ) -> None: ...
    def moves_ranked(self) -> list[int]: ...
    def lines(
        self,
    ) -> list[
        tuple[int, int, float | None, float | None, float | None, float | None, float | None]
    ]: ...
