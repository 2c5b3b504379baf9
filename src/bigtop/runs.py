"""Runs: boards played on many workers, written down in order, and taken up again.

Boards are handed out in chunks and taken back in the order of their numbers, whoever finishes
first, so that what is written and what is counted does not depend on the workers. The record
is only ever added to; a run that was cut off anywhere goes on from its last whole board.
"""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import signal
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, ParamSpec, Protocol, TypeVar

from bigtop.boards import Run, Seats, play_board, tables
from bigtop.interrupts import held, waited
from bigtop.players import LIMITS, PlayerFailure, make_player
from bigtop.record import format_record

P = ParamSpec("P")
T = TypeVar("T")

CHUNK_SECONDS = 0.25
"""How long a worker should be busy with what it is handed at a time."""
MOST_BOARDS = 2000
"""Boards handed out at a time, at the most."""
AHEAD = 3
"""Chunks handed out for each worker."""
SYNC_SECONDS = 0.5
"""The longest time between a board's end and its record being safe on the disk, beyond the
time that a chunk takes."""
FORFEIT_POINTS = 20
"""What a forfeit costs, more than any way to play a round to its end badly."""
LONGEST_LINE = 1 << 24
"""Bytes of a line that is read; no record comes near."""
MOST_BREAKS = 5
"""How often in a row a pool of workers may die before the run gives up."""
IDLE_SECONDS = 10.0
"""How long players are kept, on a worker that outlives the run, when nobody asks for a board."""


class TableResult(NamedTuple):
    """What counts of a game that was played."""

    engines: tuple[int, ...]
    """The engine in each seat, by its index in the run."""
    points: tuple[int, ...]
    """Of each seat, as they are counted: who forfeits a round has at least FORFEIT_POINTS less
    than each of the others in it."""
    rounds: int
    control: bool
    cut: int
    """Rounds that were stopped after 1,000 moves."""
    forfeits: tuple[tuple[int, str], ...]
    """Seat and reason of each round that was given up."""


class BoardResult(NamedTuple):
    """All tables of a board."""

    board: int
    tables: tuple[TableResult, ...]


class RunMismatchError(ValueError):
    """A record that another run wrote: what differs is named."""


class RecordInUseError(Exception):
    """Another process is writing the same record."""


def result_of(game: Mapping[str, Any]) -> TableResult:
    """What counts of a game, from the JSON of its record, without replaying it."""
    points = game["points"]
    cut, forfeits = 0, []
    for round_ in game["rounds"]:
        if round_["end"] == "cut":
            cut += 1
        elif round_["end"] == "forfeit":
            seat = round_["forfeit"]["seat"]
            forfeits.append((seat, round_["forfeit"]["why"]))
            scored = round_["points"]
            least = min(scored[:seat] + scored[seat + 1 :]) - FORFEIT_POINTS
            points = list(points)
            points[seat] -= max(0, scored[seat] - least)
    return TableResult(
        tuple(game["engine_of_seat"]),
        tuple(points),
        len(game["rounds"]),
        game.get("control", False),
        cut,
        tuple(forfeits),
    )


def _seated(run: Run, board: int) -> list[tuple[tuple[int, ...], bool]]:
    """Who sits at the tables of a board, and which of them are for control."""
    return [(table.engines, table.control) for table in tables(run, board)]


_decode = json.JSONDecoder().raw_decode


def read_game(line: bytes) -> Any:
    """The JSON of a line; `json.loads` is slower, it first looks for the encoding of bytes.

    Raises:
        ValueError: not JSON.
    """
    text = line.decode()
    game, end = _decode(text)
    if text[end:].strip():
        raise ValueError("expected one JSON object")
    return game


class RecordFile:
    """The record of a run on the disk: opened, checked, and added to.

    Boards are in it in order, each with all its tables; whatever comes after the last whole
    board (a line that was cut off, a board that was not finished) is removed when it is opened.

    Args:
        path: made when it is not there.
        run: the run whose record it is.

    Raises:
        RunMismatchError: another run wrote it.
        RecordInUseError: another process has it open.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, run: Run) -> None:
        self.path = path
        self.run = run
        self._file: BinaryIO = path.open("ab+")
        self._synced = time.monotonic()
        try:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RecordInUseError(f"{path}: another process is writing it") from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> RecordFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None or not issubclass(kind, OSError):
                self.sync()
        finally:
            self._file.close()

    def boards(self) -> Iterator[BoardResult]:
        """The boards that are in it, from the first; then the rest of the file is cut off.

        Raises:
            RunMismatchError: a line of another run, or not the next board.
        """
        file = self._file
        file.seek(0)
        board, whole, number, at = 0, 0, 0, 0
        seated = _seated(self.run, 0)
        played: list[TableResult] = []
        digest = self.run.digest
        while line := file.readline(LONGEST_LINE):
            number += 1
            at += len(line)
            try:
                game = read_game(line) if line.endswith(b"\n") else None
            except ValueError:
                game = None
            if game is None:
                if len(line) == LONGEST_LINE or file.read(1):
                    raise RunMismatchError(
                        f"{self.path}, line {number}: expected a game record, one JSON object"
                    )
                break
            if not isinstance(game, dict) or game.get("config") != digest:
                raise RunMismatchError(f"{self.path}, line {number}: {self._difference(game)}")
            if game.get("board") != board:
                raise RunMismatchError(
                    f"{self.path}, line {number}: expected board {board}: {game.get('board')!r}"
                )
            played.append(result_of(game))
            if len(played) == len(seated):
                if [(t.engines, t.control) for t in played] != seated:
                    raise RunMismatchError(
                        f"{self.path}, line {number}: board {board} was seated otherwise"
                    )
                whole = at
                yield BoardResult(board, tuple(played))
                board += 1
                played = []
                if self.run.kind != "match":  # the boards of a match are all seated alike
                    seated = _seated(self.run, board)
        file.seek(whole)
        file.truncate()

    def _difference(self, game: object) -> str:
        """In what a line's run is not this one."""
        run = self.run
        if not isinstance(game, dict):
            return "expected a game record, one JSON object"
        found: list[tuple[str, object, object]] = [
            ("players", run.players, len(game.get("players", ()))),
            ("seed", run.seed, game.get("seed")),
            (
                "rounds a game",
                run.players if run.unit == "game" else 1,
                len(game.get("rounds", ())),
            ),
            ("forced_pass", run.forced_pass, game.get("forced_pass", False)),
        ]
        for seat, engine in enumerate(game.get("engine_of_seat") or ()):
            if isinstance(engine, int) and 0 <= engine < len(run.engines):
                found.append((f"engine {engine}", run.engines[engine], game["players"][seat]))
            else:
                found.append(("number of engines", len(run.engines), f"at least {engine}"))
        for what, wanted, there in found:
            if wanted != there:
                return f"it is of another run: {what} {there} there, {wanted} asked for"
        return (
            f"it is of another run: config {game.get('config')} there, {run.digest} asked for "
            "(kind of run or budget)"
        )

    def append(self, lines: Sequence[str]) -> None:
        """Add the lines of a board; they are on the disk within a second."""
        self._file.write("".join(line + "\n" for line in lines).encode())
        if time.monotonic() - self._synced >= SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Make sure that all is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()


@dataclass(frozen=True)
class Chunk:
    """What a worker brings back."""

    first: int
    lines: list[list[str]]
    results: list[BoardResult]
    seconds: float


class _Kept:
    """The players that a thread keeps from chunk to chunk, of one run at a time."""

    def __init__(self) -> None:
        # held while they play, so that another thread ends only players that are idle
        self.lock = threading.Lock()
        self.uses = 0
        self._run: Run | None = None
        self._seats: Seats | None = None
        self._timer: threading.Timer | None = None

    def seats(self, run: Run) -> Seats:
        """Those of a run; any others are ended."""
        self.uses += 1
        if self._seats is None or self._run != run:
            self.close()
            self._run, self._seats = run, Seats(run)
        return self._seats

    def close(self) -> None:
        """End them."""
        if self._seats is not None:
            self._seats.close()
            self._run = self._seats = None

    def close_when_idle(self) -> None:
        """End them after IDLE_SECONDS without a further chunk."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(IDLE_SECONDS, self._close_if_idle, (self.uses,))
        self._timer.daemon = True
        self._timer.start()

    def _close_if_idle(self, uses: int) -> None:
        # a chunk that is being played has another number of uses, and will wind up the timer
        if self.lock.acquire(blocking=False):
            try:
                if self.uses == uses:
                    self.close()
            finally:
                self.lock.release()


class _Here(threading.local):
    def __init__(self) -> None:
        self.kept = _Kept()


_here = _Here()  # of each thread: a worker of a cluster may have several


def play_chunk(run: Run, first: int, count: int) -> Chunk:
    """Play boards in this thread; programs that play go on from chunk to chunk."""
    kept = _here.kept
    with kept.lock:
        seats = kept.seats(run)
        started = time.perf_counter()
        lines, results = [], []
        for board in range(first, first + count):
            written = [format_record(record) for record in play_board(seats, board)]
            lines.append(written)
            results.append(
                BoardResult(board, tuple(result_of(json.loads(line)) for line in written))
            )
        return Chunk(first, lines, results, time.perf_counter() - started)


def play_chunk_afar(run: Run, first: int, count: int) -> Chunk:
    """`play_chunk` on a worker that outlives the run, and may never be told of its end."""
    try:
        return play_chunk(run, first, count)
    finally:
        _here.kept.close_when_idle()


def close_seats() -> None:
    """End the players of this thread."""
    _here.kept.close()


class PlayerRefusedError(Exception):
    """A player that cannot even start: the run is not begun."""


def start_players(run: Run) -> None:
    """Start each player of a run once, and end it again.

    A program that hangs when it is started would else cost its time limit in every round.

    Raises:
        PlayerRefusedError: one of them cannot start; says which, and why.
    """
    for spec in dict.fromkeys(run.engines):
        with make_player(spec, 0, run.budget or None, limits=LIMITS) as player:
            try:
                player.start()
            except PlayerFailure as failure:
                raise PlayerRefusedError(f"{spec} does not start: {failure}") from None


_answers: weakref.WeakSet[Any] = weakref.WeakSet()
"""Where the processes of each pool write what they bring back; this process could, too."""


class _Workers(ProcessPoolExecutor):
    """Processes that Ctrl-C at a terminal does not reach: who started them ends them."""

    def __init__(self, count: int) -> None:
        super().__init__(count, mp_context=multiprocessing.get_context("spawn"))
        answers = getattr(getattr(self, "_result_queue", None), "_writer", None)
        if answers is not None:
            _answers.add(answers)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Hand out work; starts a process when all are busy."""
        # a process inherits what is blocked, from its first step on
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def local_workers(count: int) -> Callable[[], Executor]:
    """A maker of pools of so many processes, each started afresh."""

    def make() -> Executor:
        return _Workers(count)

    return make


def end_local_workers() -> None:
    """End the processes that local_workers started, without waiting for what they do."""
    for child in multiprocessing.active_children():
        child.terminate()
    # the rest of a message that one was writing would be waited for as long as anybody could write
    for answers in list(_answers):
        answers.close()


def play_boards(
    run: Run,
    first: int,
    stop: int,
    workers: int | Callable[[], int] = 1,
    make: Callable[[], Executor] | None = None,
) -> Iterator[tuple[list[str], BoardResult]]:
    """Play boards, from first up to stop, and give them back in order.

    Args:
        run: what is played.
        first: the first board.
        stop: the board before which to stop.
        workers: how many work at a time; asked again and again when it may change.
        make: makes the executor; None plays in this process.

    Yields:
        The record lines and the result of each board.

    Raises:
        BrokenExecutor: workers die again and again.
    """
    size = 1
    if make is None:
        try:
            while first < stop:
                chunk = play_chunk(run, first, min(size, stop - first))
                first += len(chunk.results)
                size = _next_size(chunk)
                yield from zip(chunk.lines, chunk.results, strict=True)
        finally:
            close_seats()
        return
    breaks = 0
    while first < stop:
        executor = make()
        waiting: deque[Future[Chunk]] = deque()
        ahead = first
        try:
            while first < stop:
                at_a_time = workers if isinstance(workers, int) else workers()
                while ahead < stop and len(waiting) < AHEAD * at_a_time:
                    count = min(size, stop - ahead)
                    with held():
                        waiting.append(executor.submit(play_chunk_afar, run, ahead, count))
                    ahead += count
                chunk = waited(waiting.popleft())
                breaks = 0
                first += len(chunk.results)
                size = _next_size(chunk)
                yield from zip(chunk.lines, chunk.results, strict=True)
        except BrokenExecutor:
            # a worker was killed: its boards are played again
            breaks += 1
            if breaks == MOST_BREAKS:
                raise
        finally:
            with held():
                executor.shutdown(wait=False, cancel_futures=True)


def _next_size(chunk: Chunk) -> int:
    """How many boards to hand out, after what this chunk took."""
    each = chunk.seconds / len(chunk.results)
    return max(1, min(MOST_BOARDS, int(CHUNK_SECONDS / each) if each else MOST_BOARDS))


class Standing(Protocol):
    """What a run adds up to, board by board."""

    run: Run
    boards: int
    """Boards that were counted."""

    def add(self, result: BoardResult) -> None:
        """Count a board; they come in order."""

    def decided(self) -> bool:
        """Whether no further board is needed."""


def play_run(
    standing: Standing,
    boards: int,
    record: Path | None = None,
    workers: int | Callable[[], int] = 1,
    make: Callable[[], Executor] | None = None,
    start: Callable[[Run], None] = start_players,
) -> Generator[int]:
    """Play a run, or go on with it; counts into `standing` board by board.

    Args:
        standing: of a run that has not begun.
        boards: how many, those in the record included.
        record: file to go on from and to write to.
        workers: how many boards are played at a time, or what tells it now and then.
        make: makes the executor that plays them; None plays in this process.
        start: called before any board is played, to find out whether all players can start.

    Yields:
        The number of boards counted: once for all that came from the record, then for each.

    Raises:
        RunMismatchError: the record is another run's.
        RecordInUseError: another process writes it.
        PlayerRefusedError: a player cannot start.
        OSError: it cannot be read or written.
    """
    with ExitStack() as stack:
        file = None
        if record is not None:
            file = stack.enter_context(RecordFile(record, standing.run))
            for result in file.boards():
                if standing.boards < boards and not standing.decided():
                    standing.add(result)
        yield standing.boards
        if standing.decided() or standing.boards >= boards:
            return
        start(standing.run)
        for lines, result in play_boards(standing.run, standing.boards, boards, workers, make):
            if file is not None:
                file.append(lines)
            standing.add(result)
            yield standing.boards
            if standing.decided():
                return
