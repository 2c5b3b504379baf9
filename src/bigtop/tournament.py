"""Many engines at one set of tables, and the ratings that follow; also from records alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from bigtop.boards import Run
from bigtop.notation import NotationError
from bigtop.pictures import History
from bigtop.record import check_record, parse_record
from bigtop.runs import BoardResult, TableResult, result_of
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
    units: dict[object, int] = {}
    seeds: set[int] = set()
    shapes: set[tuple[int, int]] = set()
    found: list[tuple[int, tuple[str, ...], TableResult]] = []
    for number, line in enumerate(lines, 1):
        game = _game(line, number, check)
        if game.get("control", False):
            continue
        names = tuple(game["players"])
        seats = game.get("engine_of_seat")
        numbers: list[int] | None = None
        if isinstance(seats, list) and len(seats) == len(names):
            numbers = seats if all(type(engine) is int for engine in seats) else None
        for seat, name in enumerate(names):
            places.setdefault(name, len(places) if numbers is None else numbers[seat])
        board = game.get("board")
        key = number if board is None else (game.get("config"), board)
        seeds.add(game.get("seed") or 0)
        shapes.add((len(names), len(game["rounds"])))
        result = result_of(game | {"engine_of_seat": []})
        found.append((units.setdefault(key, len(units)), names, result))
    if not found:
        raise ValueError("expected at least one game that counts, there is none")
    order = sorted(places, key=places.__getitem__)
    index = {name: engine for engine, name in enumerate(order)}
    standing = TournamentStanding(
        Run(
            "tournament",
            tuple(order),
            max(players for players, _ in shapes),
            "round" if {rounds for _, rounds in shapes} == {1} else "game",
            seeds.pop() if len(seeds) == 1 else 0,
        )
    )
    for unit, names, result in found:
        engines = tuple(index[name] for name in names)
        standing.add_table(unit, result._replace(engines=engines))
    standing.boards = len(units)
    return standing


def _game(line: bytes, number: int, check: bool) -> dict[str, Any]:
    """The JSON of a record; only with `check`, or when it looks wrong, is it read in full."""
    if check:
        check_record(parse_record(line, number))
    try:
        game = json.loads(line)
        if len(game["players"]) == len(game["points"]) and game["rounds"]:
            return dict(game)
    except (ValueError, KeyError, TypeError):
        pass
    parse_record(line, number)  # says what is wrong
    raise NotationError(f"line {number}: expected a game record")
