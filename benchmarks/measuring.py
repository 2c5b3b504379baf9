"""What is measured, in which units, and the table of it: the core beside plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol


class Unit(NamedTuple):
    """How something counted is shown: as so much time for each, or as so many in a second."""

    name: str
    factor: float
    """For a time: its units in a second. For a rate: how many items are one of its units."""
    is_rate: bool

    def value(self, seconds: float, items: int) -> float:
        if self.is_rate:
            return items / seconds / self.factor
        return seconds / items * self.factor


UNITS = {
    "comparisons": Unit("ns each", 1e9, False),
    "moves listed": Unit("ns per move listed", 1e9, False),
    "moves drawn": Unit("ns per move drawn", 1e9, False),
    "moves played": Unit("M moves/s", 1e6, True),
    "rounds": Unit("rounds/s", 1.0, True),
    "samples": Unit("µs per sample", 1e6, False),
    "nodes": Unit("M nodes/s", 1e6, True),
    "simulations": Unit("simulations/s", 1.0, True),
    "starts": Unit("ms", 1e3, False),
}
CORE, PYTHON = "core", "python"

Work = Callable[[], Mapping[str, int]]
"""Does some work and says how much it was: how many of the things in `UNITS`."""


class Measure(Protocol):
    """Runs some work a few times and notes how long it took; returns how much it was.

    `side` is CORE or PYTHON; `players` 0 where their number does not matter; `runs` None for
    the usual number of runs.
    """

    def __call__(
        self, work: str, side: str, function: Work, *, players: int = 0, runs: int | None = None
    ) -> Mapping[str, int]: ...


class Key(NamedTuple):
    """A row of the table."""

    work: str
    counted: str
    players: int


class Outcome(NamedTuple):
    """What was measured on one side of a row."""

    seconds: float
    """Median time of a run."""
    items: int
    """How many in a run."""


Table = dict[Key, dict[str, Outcome]]
LINE = "{:<{width}}{:>9}  {:<20}{:>12}{:>14}{:>9}"


def written(number: float) -> str:
    """A number to three significant digits, or whole."""
    return f"{number:,.0f}" if number >= 100 else f"{number:#.3g}"


def table_lines(table: Table) -> list[str]:
    """The table as text, in the order of measurement."""
    width = max(len(key.work) for key in table)
    titles = ("work", "players", "figure", "core", "plain Python", "ratio")
    lines = [LINE.format(*titles, width=width)]
    for key, sides in table.items():
        unit = UNITS[key.counted]
        cells = [
            written(unit.value(*sides[side])) if side in sides else "" for side in (CORE, PYTHON)
        ]
        ratio = ""
        if all(cells):
            rates = [sides[side].items / sides[side].seconds for side in (CORE, PYTHON)]
            ratio = written(rates[0] / rates[1])
        row = (key.work, key.players or "", unit.name, *cells, ratio)
        lines.append(LINE.format(*row, width=width).rstrip())
    return lines
