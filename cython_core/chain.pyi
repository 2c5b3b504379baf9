from collections.abc import Iterable, Sequence

from typing_extensions import disjoint_base

from bigtop.core.evaluate import Network
from bigtop.core.rng import Rng
from bigtop.core.state import Round

PRIOR: tuple[float, ...]

@disjoint_base
class Worlds:
    @property
    def count(self) -> int: ...
    @property
    def learned(self) -> bool: ...
    def round(self, k: int) -> Round: ...
    def models(self) -> list[list[float]]: ...

@disjoint_base
class Story:
    def __init__(
        self,
        first: Round,
        plies: Iterable[tuple[int, int, bytes]],
        now: Round,
        network: Network,
    ) -> None: ...
    @property
    def network(self) -> Network: ...
    @property
    def viewer(self) -> int: ...
    @property
    def decisions_made(self) -> list[int]: ...
    def log_chance(self, full: Round, models: Sequence[int]) -> float: ...
    def draw(
        self,
        rng: Rng,
        count: int,
        tries: int,
        heats: Sequence[float],
        steps: int,
        prior: Sequence[Sequence[float]] | None = None,
        proposed: Sequence[Sequence[float]] | None = None,
    ) -> Worlds: ...
