"""A run on a cluster: a real scheduler and workers on loopback, and what can go wrong there."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from helpers import sized

import bigtop.cluster
import bigtop.runs
from bigtop.boards import Run, Seats
from bigtop.cli.main import bigtop as command
from bigtop.cluster import Cluster
from bigtop.match import MatchStanding
from bigtop.runs import MOST_BREAKS, PlayerRefusedError, play_chunk, play_chunk_afar, play_run

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "engine.py"
PROCESS = [sys.executable, "-c", "from bigtop.cli.main import main; main()"]

needs_dask = pytest.mark.skipif(
    find_spec("distributed") is None,
    reason="Dask is not installed: pip install 'bigtop[cluster]'",
)


class Loopback:
    """A scheduler and two workers, processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        # one of them with two threads, which must not share their players
        self.lasting = self._worker("2")
        self.mortal = self._worker("1")
        deadline = time.monotonic() + 60
        while not (self.file.exists() and self.file.read_text().endswith("}")):
            assert time.monotonic() < deadline
            assert self.processes[0].poll() is None
            time.sleep(0.05)
        self.address: str = json.loads(self.file.read_text())["address"]

    def _worker(self, threads: str) -> subprocess.Popen[bytes]:
        return self._start(
            "worker", "--no-nanny", "--nthreads", threads, "--local-directory", str(self.folder)
        )

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words, "--no-dashboard",
             "--scheduler-file", str(self.file)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def close(self) -> None:
        """End all of them."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    cluster = Loopback(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


def words(boards: int, record: Path, *more: str) -> list[str]:
    return [
        "match", "random", "planner", "--players", "3", "--boards", str(boards), "--seed", "5",
        "--record", str(record), "--json", *more,
    ]  # fmt: skip


def refused(*args: str) -> str:
    """Run a command that must fail for its input; return the one line on stderr."""
    result = CliRunner().invoke(command, list(args), catch_exceptions=False)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line


def figures(printed: str) -> dict[str, Any]:
    found = dict(json.loads(printed))
    del found["seconds"]
    return found


@needs_dask
def test_a_worker_that_dies_changes_nothing(loopback: Loopback, tmp_path: Path) -> None:
    boards = sized(4000, 600)
    alone, there = tmp_path / "alone", tmp_path / "there"
    local = CliRunner().invoke(command, words(boards, alone, "--workers", "1"))
    process = subprocess.Popen(
        [*PROCESS, *words(boards, there, "--cluster", loopback.address)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not there.exists() or there.stat().st_size < alone.stat().st_size // 10:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    assert process.poll() is None
    loopback.mortal.kill()  # by its own process id
    assert there.stat().st_size < alone.stat().st_size
    printed, complaints = process.communicate()
    assert complaints == ""
    assert process.returncode == 0
    assert figures(printed) == figures(local.stdout)
    assert there.read_bytes() == alone.read_bytes()


@needs_dask
def test_an_interrupt_gives_the_standing(loopback: Loopback, tmp_path: Path) -> None:
    record = tmp_path / "record"
    process = subprocess.Popen(
        [*PROCESS, *words(10_000_000, record, "--cluster", loopback.address)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # heard even where the tests were started in the background
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    while not record.exists() or record.stat().st_size < 20_000:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    printed, standing = process.communicate()
    assert process.returncode == 130
    assert printed == ""
    assert "  margin " in standing
    assert "to go on: bigtop match random planner" in standing
    assert f"--cluster {loopback.address}" in standing


@needs_dask
def test_a_tournament_with_a_program_is_the_same_there(loopback: Loopback, tmp_path: Path) -> None:
    # the folder has a space, and both threads of a worker have a program of their own
    records = [tmp_path / "alone", tmp_path / "there"]
    program = f"cmd:{shlex.join([sys.executable, str(EXAMPLE)])}"
    for record, more in zip(
        records, (["--workers", "1"], ["--cluster", loopback.address]), strict=True
    ):
        result = CliRunner().invoke(
            command,
            ["tournament", program, "planner", "greedy", "--players", "3", "--boards", "6",
             "--seed", "2", "--record", str(record), *more],
        )  # fmt: skip
        assert result.exit_code == 0, result.output
    assert records[0].read_bytes() == records[1].read_bytes()


@needs_dask
def test_a_player_that_cannot_start_there_is_refused(loopback: Loopback) -> None:
    line = refused(
        "match", "cmd:nobody-there", "planner", "--seed", "1", "--cluster", loopback.address
    )
    assert line == (
        "bigtop: cmd:nobody-there does not start: crashed: it cannot be started:"
        " No such file or directory: nobody-there"
    )


@needs_dask
@pytest.mark.parametrize(
    ("scheduler", "worker", "said"),
    [
        ("1", "1", ""),
        ("2", "1", "the scheduler of the cluster at tcp://x:1 has Bigtop 2, expected 1"),
        (PackageNotFoundError(), "1", "the scheduler of the cluster at tcp://x:1 has no Bigtop"),
        ("1", "2", "the worker tcp://x:3 of the cluster at tcp://x:1 has Bigtop 2, expected 1"),
        ("1", PackageNotFoundError(), "the worker tcp://x:3 of the cluster at tcp://x:1 has no"),
        ("1", OSError(), ""),
    ],
)
def test_a_cluster_with_another_version_is_refused(
    scheduler: object, worker: object, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stub:
        status = "running"

        def run_on_scheduler(self, *args: object) -> object:
            if isinstance(scheduler, Exception):
                raise scheduler
            return scheduler

        def run(self, *args: object, **more: object) -> dict[str, object]:
            return {"tcp://x:2": "1", "tcp://x:3": worker}

        def get_executor(self, pure: bool) -> Executor:
            return Careless(lambda call: None)

    there = object.__new__(Cluster)
    there.address, there._client = "tcp://x:1", Stub()
    monkeypatch.setattr(bigtop.cluster, "version", lambda name: "1")
    if said:
        with pytest.raises(PlayerRefusedError, match=said):
            there.start_players(RUN)
    else:
        there.start_players(RUN)


@needs_dask
def test_a_cluster_without_bigtop_is_refused(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bigtop.cluster, "DISTRIBUTION", "no-such-distribution")
    line = refused("match", "random", "planner", "--seed", "1", "--cluster", loopback.address)
    assert f"the scheduler of the cluster at {loopback.address} has no Bigtop" in line


@needs_dask
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("carrier://pigeon", "expected the address of a Dask scheduler"),
        ("127.0.0.1", "missing port"),
        ("", "missing port"),
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at 'tcp://127.0.0.1:1'"),
    ],
)
def test_where_no_scheduler_answers(
    address: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bigtop.cluster, "CONNECT_SECONDS", 0.3)
    assert said in refused("match", "random", "planner", "--cluster", address)


@pytest.mark.parametrize("kind", ["match", "tournament"])
def test_without_dask_it_is_said_how_to_get_it(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    line = refused(kind, "random", "planner", "--cluster", "tcp://127.0.0.1:1")
    assert line.startswith("bigtop: --cluster: a cluster needs Dask, pip install 'bigtop[cluster]'")


def test_local_workers_and_a_cluster_exclude_each_other() -> None:
    assert "--workers" in refused("match", "random", "planner", "--cluster", "x", "--workers", "2")


# What may happen to boards that were handed out, with workers that do what the test wants


class Careless(Executor):
    """Plays in this thread; loses the calls that it is told to lose."""

    def __init__(self, loses: Callable[[int], BaseException | None]) -> None:
        self.loses = loses
        self.calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.calls += 1
        future: Future[Any] = Future()
        error = self.loses(self.calls)
        if error is None:
            future.set_result(fn(*args, **kwargs))
        elif isinstance(error, CancelledError):
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_exception(error)
        return future


RUN = Run("match", ("random", "planner"), 3, "round", 5)


@needs_dask
def test_what_the_cluster_gives_up_is_played_again() -> None:
    from distributed import KilledWorker

    lost = iter([(2, CancelledError()), (1, KilledWorker("chunk", "worker", 3))])
    made: list[Careless] = []

    def make() -> Executor:
        which, error = next(lost, (0, None))
        made.append(Careless(lambda call: error if call == which else None))
        return bigtop.cluster._Lent(made[-1])

    standing, alone = MatchStanding(RUN), MatchStanding(RUN)
    done = list(play_run(standing, 30, None, 2, make))
    assert done == list(range(31))
    assert len(made) == 3
    list(play_run(alone, 30))
    assert standing.json(0.0) == alone.json(0.0)


@needs_dask
def test_a_cluster_that_is_lost_for_good_ends_the_run() -> None:
    made: list[Careless] = []

    def make() -> Executor:
        made.append(Careless(lambda call: CancelledError()))
        return bigtop.cluster._Lent(made[-1])

    standing = MatchStanding(RUN)
    with pytest.raises(BrokenExecutor, match="the connection was lost"):
        list(play_run(standing, 30, None, 2, make))
    assert len(made) == MOST_BREAKS
    assert standing.boards == 0


def test_the_number_of_workers_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bigtop.runs, "MOST_BOARDS", 1)
    made: list[Careless] = []
    waiting = []
    numbers = iter([1, 1, 4, 4])

    def make() -> Executor:
        made.append(Careless(lambda call: None))
        return made[-1]

    def workers() -> int:
        waiting.append(made[-1].calls)
        return next(numbers, 4)

    list(play_run(MatchStanding(RUN), 60, None, workers, make))
    # handed out before each look at the number: three chunks for each worker, less those done
    assert waiting[:4] == [0, 3, 4, 14]


def test_players_that_nobody_asks_any_more_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bigtop.runs, "IDLE_SECONDS", 0.05)
    ended: list[Seats] = []
    close = Seats.close

    def watched(seats: Seats) -> None:
        ended.append(seats)
        close(seats)

    monkeypatch.setattr(Seats, "close", watched)
    program = f"cmd:{shlex.join([sys.executable, str(EXAMPLE)])}"
    run = Run("match", (program, "planner"), 3, "round", 5)
    first = play_chunk_afar(run, 0, 1)
    deadline = time.monotonic() + 30
    while not ended:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # and they sit down again when somebody does
    assert play_chunk(run, 0, 1).lines == first.lines
    bigtop.runs.close_seats()
    assert len(ended) == 2
