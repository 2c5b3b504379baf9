from collections.abc import Sequence

from typing_extensions import disjoint_base

from bigtop.core.chain import Worlds
from bigtop.core.search import Root

@disjoint_base
class Flat(Root):
    def run(
        self,
        arms: Sequence[int],
        first_world: int,
        last_world: int,
        worlds: Worlds | None = None,
    ) -> None: ...
    def win_fit(self) -> tuple[float, list[float]]: ...
