"""The fixture that measures, and the table at the end.

Nothing here fails because something is slow.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

HERE = Path(__file__).resolve().parent
# for `measuring` and `positions`, and for `twin`, the baseline
for folder in (HERE.parent / "tests", HERE):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from measuring import CORE, Key, Measure, Outcome, Table, Work, table_lines  # noqa: E402

TABLE = pytest.StashKey[Table]()
RUNS = {True: 7, False: 3}
"""For the core, and for plain Python."""


@pytest.fixture
def measure(benchmark: BenchmarkFixture, pytestconfig: pytest.Config) -> Measure:
    """Measure some work; see `measuring.Measure`."""
    pedantic: Callable[..., Mapping[str, int]] = benchmark.pedantic

    def run(
        work: str, side: str, function: Work, *, players: int = 0, runs: int | None = None
    ) -> Mapping[str, int]:
        benchmark.group = f"{work}, {players} players" if players else work
        items = pedantic(
            function,
            rounds=RUNS[side == CORE] if runs is None else runs,
            warmup_rounds=1 if side == CORE else 0,
        )
        benchmark.extra_info.update(work=work, side=side, players=players, items=dict(items))
        if benchmark.stats is not None:  # None under --benchmark-disable
            table = pytestconfig.stash.setdefault(TABLE, {})
            for counted, number in items.items():
                row = table.setdefault(Key(work, counted, players), {})
                row[side] = Outcome(benchmark.stats.stats.median, number)
        return items

    return run


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table below what pytest-benchmark prints."""
    from bigtop.core import ISA

    table = config.stash.get(TABLE, {})
    if table:
        terminalreporter.section("the core beside plain Python")
        for line in (
            f"core: {ISA}; Python {platform.python_version()}, {platform.machine()}, "
            f"{os.cpu_count()} processors; one thread; medians",
            "plain Python: tests/twin.py, the same rules written plainly, in this same run",
            "",
            *table_lines(table),
        ):
            terminalreporter.write_line(line)
