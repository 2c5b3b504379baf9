from collections.abc import Sequence

from bigtop.core.chain import Worlds
from bigtop.core.search import Root

class Flat(Root):
    def run(
        self,
        arms: Sequence[int],
        first_world: int,
        last_world: int,
        worlds: Worlds | None = None,
    ) -> None: ...
    def win_slope(self) -> float: ...
