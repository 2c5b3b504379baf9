"""Many engines at one set of tables, and the ratings that follow; also from records alone."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bigtop.boards import Run
from bigtop.notation import NotationError
from bigtop.pictures import History
from bigtop.record import check_record, parse_record
from bigtop.runs import BoardResult, TableResult, read_game, result_of
from bigtop.statistics import (
    Comparisons,
    CrossTable,
    Estimate,
    IntegerSums,
    Rating,
    cross_table,
    estimate,
    margin_parts,
    ratings,
)

ANCHOR = "planner"
"""The engine whose rating is fixed."""


@dataclass
class TournamentStanding:
    """How a tournament stands.

    Attributes:
        run: what is played.
        history: takes in the margins as they go, for a picture.
    """

    run: Run
    history: History | None = None
    margins: list[IntegerSums] = field(init=False)
    """Of each engine, its points minus the mean of the others' at the table, by board."""
    compared: Comparisons = field(init=False)
    boards: int = 0
    rounds: int = 0
    cut_rounds: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    """How often a round was given up, by engine and reason."""

    def __post_init__(self) -> None:
        self.compared = Comparisons(len(self.run.engines))
        # on each board every engine sits once in every seat
        self.margins = [
            IntegerSums((self.run.players - 1) * self.run.players) for _ in self.run.engines
        ]

    def decided(self) -> bool:
        """A tournament plays all its boards."""
        return False

    def add(self, result: BoardResult) -> None:
        """Count a board."""
        parts = [0] * len(self.run.engines)
        for table in result.tables:
            self.add_table(result.board, table)
            for seat, engine in enumerate(table.engines):
                parts[engine] += margin_parts(table.points, seat)
        for sums, part in zip(self.margins, parts, strict=True):
            sums.add(part)
        self.boards += 1
        if self.history is not None:
            self.history.note(self.boards, self.estimates)

    def add_table(self, board: int, table: TableResult) -> None:
        """Count one table of a board."""
        self.compared.add(board, table.engines, table.points, table.rounds)
        self.rounds += table.rounds
        self.cut_rounds += table.cut
        for seat, why in table.forfeits:
            reason = f"{self.run.engines[table.engines[seat]]}: {why}"
            self.reasons[reason] = self.reasons.get(reason, 0) + 1

    def estimates(self) -> list[Estimate]:
        """The margin of each engine, a table; nothing where only records are known."""
        return [estimate(sums) for sums in self.margins]

    def ratings(self) -> list[Rating]:
        """The ratings, best first, with intervals from a bootstrap over boards."""
        return ratings(self.compared, self.run.engines, ANCHOR, seed=self.run.seed)

    def cross(self) -> CrossTable:
        """Every engine against every other."""
        return cross_table(self.compared)

    def json(self) -> dict[str, Any]:
        """The object that `bigtop tournament --json` and `bigtop rate --json` print."""
        cross = self.cross()
        return {
            "ratings": [asdict(rating) for rating in self.ratings()],
            "boards": self.boards,
            "seed": self.run.seed,
            "players": self.run.players,
            "unit": self.run.unit,
            "rounds": self.rounds,
            "cut_rounds": self.cut_rounds,
            "forfeit_reasons": self.reasons,
            "cross_table": {
                "engines": list(self.run.engines),
                "share": [
                    [None if number != number else number for number in row]
                    for row in cross.share.tolist()
                ],
                "comparisons": cross.comparisons.tolist(),
            },
        }


def standing_of_records(lines: Iterable[bytes], check: bool = False) -> TournamentStanding:
    """What the lines of record files tell of the engines named in them.

    Games played for comparison only are left out. Games of one run and board are one sampling
    unit; a game that names no board is one by itself.

    Args:
        lines: game records, of any runs, with any numbers of players.
        check: replay each game first.

    Raises:
        NotationError: a line that is not a game record.
        RecordError: with `check`, a record that does not replay.
        ValueError: no game that counts.
    """
    places: dict[str, int] = {}  # of each name, so that a run's own order comes out again
    numbers: dict[str, int] = {}  # in the order in which they were met
    units: dict[object, int] = {}
    seeds: set[int] = set()
    shapes: dict[tuple[int, int], _Tables] = {}  # by seats and rounds
    cut = 0
    reasons: Counter[str] = Counter()
    for number, line in enumerate(lines, 1):
        game = _game(line, number, check)
        if game.get("control", False):
            continue
        names = tuple(game["players"])
        seats = game.get("engine_of_seat")
        if not (
            isinstance(seats, list)
            and len(seats) == len(names)
            and all(type(engine) is int for engine in seats)
        ):
            seats = [places.get(name, len(places) + seat) for seat, name in enumerate(names)]
        for name, place in zip(names, seats, strict=True):
            places.setdefault(name, place)
        board = game.get("board")
        key = number if board is None else (game.get("config"), board)
        seeds.add(game.get("seed") or 0)
        result = result_of(game | {"engine_of_seat": []})
        shape = len(names), result.rounds
        if shape not in shapes:
            shapes[shape] = _Tables()
        shapes[shape].add(
            units.setdefault(key, len(units)),
            [numbers.setdefault(name, len(numbers)) for name in names],
            result.points,
        )
        cut += result.cut
        reasons.update(f"{names[seat]}: {why}" for seat, why in result.forfeits)
    if not shapes:
        raise ValueError("expected at least one game that counts, there is none")
    order = sorted(places, key=places.__getitem__)
    standing = TournamentStanding(
        Run(
            "tournament",
            tuple(order),
            max(seats for seats, _ in shapes),
            "round" if {rounds for _, rounds in shapes} == {1} else "game",
            seeds.pop() if len(seeds) == 1 else 0,
        )
    )
    index = {name: engine for engine, name in enumerate(order)}
    engines = np.array([index[name] for name in numbers], dtype=np.int64)
    for (seats, rounds), tables in shapes.items():
        standing.rounds += tables.count_into(standing.compared, engines, seats, rounds)
    standing.cut_rounds = cut
    standing.reasons = dict(reasons)
    standing.boards = len(units)
    return standing


class _Tables:
    """Results of tables with the same numbers of seats and rounds, a few bytes for each."""

    def __init__(self) -> None:
        self._units = array("q")
        self._engines = array("q")
        self._points = array("q")

    def add(self, unit: int, engines: Iterable[int], points: Iterable[int]) -> None:
        """Take in one table."""
        self._units.append(unit)
        self._engines.extend(engines)
        self._points.extend(points)

    def count_into(
        self, counted: Comparisons, names: NDArray[np.int64], seats: int, rounds: int
    ) -> int:
        """Count all of them, engines under their new names; the number of their rounds."""
        engines = np.frombuffer(self._engines, dtype=np.int64)
        points = np.frombuffer(self._points, dtype=np.int64)
        counted.add_tables(
            np.frombuffer(self._units, dtype=np.int64),
            names[engines].reshape(-1, seats),
            points.reshape(-1, seats),
            rounds,
        )
        return len(self._units) * rounds


def _game(line: bytes, number: int, check: bool) -> dict[str, Any]:
    """The JSON of a record; only with `check`, or when it looks wrong, is it read in full."""
    if check:
        check_record(parse_record(line, number))
    try:
        game = read_game(line)
        if len(game["players"]) == len(game["points"]) and game["rounds"]:
            return dict(game)
    except (ValueError, KeyError, TypeError):
        pass
    parse_record(line, number)  # says what is wrong
    raise NotationError(f"line {number}: expected a game record")
