"""What `match` and `tournament` share: their options, workers, and the progress line."""

from __future__ import annotations

import math
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bigtop.cli.common import (
    STATUS_INTERRUPTED,
    BadInput,
    Failure,
    complain,
    json_option,
    players_option,
    seed_option,
)

if TYPE_CHECKING:
    from bigtop.boards import Run
    from bigtop.runs import Standing
    from bigtop.statistics import Estimate, SequentialTest

PROGRESS_SECONDS = 0.2
USUAL_COLUMNS = 80

unit_option = click.option(
    "--unit",
    type=click.Choice(["round", "game"]),
    default="round",
    show_default=True,
    help="Single rounds, or games of as many rounds as players.",
)

workers_option = click.option(
    "--workers",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Boards played at a time, one process each.  [default: the cores there are]",
)

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Play on the workers of the Dask cluster at tcp://HOST:8786 (needs bigtop[cluster]).",
)

record_option = click.option(
    "--record",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write every game there; the same command goes on from what is in it.",
)


def _check_plot(ctx: click.Context, param: click.Parameter, name: str | None) -> Path | None:
    """Refuse a picture that could not be made, before the run that it is of."""
    if name is None:
        return None
    from bigtop.pictures import PictureError, check_picture

    try:
        check_picture(Path(name))
    except PictureError as error:
        raise BadInput(f"--plot: {error}") from error
    return Path(name)


plot_option = click.option(
    "--plot",
    metavar="FILE.png|svg",
    callback=_check_plot,
    help="Draw a picture of the result there (needs bigtop[plot]).",
)

budget_option = click.option(
    "--budget",
    default="",
    metavar="sims=N|time=S",
    help="Budget of engines that are programs (cmd:) or classes (python:).",
)

forced_pass_option = click.option(
    "--forced-pass", is_flag=True, help="Two players: only a forced pass is allowed."
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that a match and a tournament have in common."""
    for option in (
        json_option,
        seed_option,
        forced_pass_option,
        budget_option,
        cluster_option,
        workers_option,
        plot_option,
        record_option,
        unit_option,
        players_option,
    ):
        command = option(command)
    return command


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def canonical_specs(specs: Sequence[str], budget: str) -> tuple[str, ...]:
    """The canonical specs of engines that can play; `BadInput` says which cannot."""
    from bigtop.engines import EngineSpecError
    from bigtop.players import make_player

    found = []
    for spec in specs:
        try:
            with make_player(spec, 0, budget or None) as player:
                found.append(player.spec)
        except EngineSpecError as error:
            raise BadInput(str(error)) from error
    return tuple(found)


def sequential_test(text: str | None) -> SequentialTest | None:
    """The test that `--stop` asks for, as in `0,0.5` or `0,0.5,0.05,0.05`."""
    from bigtop.statistics import SequentialTest

    if text is None:
        return None
    try:
        numbers = [float(word) for word in text.split(",")]
        if len(numbers) not in (2, 4):
            raise ValueError("expected 2 or 4 numbers")
        h0, h1, *errors = numbers
        alpha, beta = errors or (0.05, 0.05)
        return SequentialTest(h0, h1, alpha, beta)
    except ValueError as error:
        raise BadInput(
            "--stop: expected H0,H1 or H0,H1,ALPHA,BETA, margins in points with H0 below H1: "
            f"{text!r} ({error})"
        ) from error


class Progress:
    """A line on stderr that tells how far a run is; only where stderr is a terminal.

    Args:
        boards: how many there will be at the most.
        standing: how it stands, in a few words; None shows no line at all.
    """

    def __init__(self, boards: int, standing: Callable[[], str] | None) -> None:
        self.boards = boards
        self.standing = standing
        self.shown = standing is not None and sys.stderr is not None and sys.stderr.isatty()
        self.began = time.monotonic()
        self.began_at: int | None = None
        self.last = -math.inf

    def say(self, line: str) -> None:
        """Show a line in the place of the one before, cut where it would be wrapped."""
        if self.shown:
            click.echo(f"\r\x1b[K{line[: _columns() - 1]}", err=True, nl=False)

    def tell(self, done: int) -> None:
        """Say how many boards are done and how it stands, not too often."""
        now = time.monotonic()
        if self.began_at is None:
            # boards that came from a record tell nothing about the speed
            self.began_at, self.began = done, now
        if not self.shown or self.standing is None or now - self.last < PROGRESS_SECONDS:
            return
        self.last = now
        speed = ""
        if done > self.began_at and now > self.began:
            rate = (done - self.began_at) / (now - self.began)
            left = duration((self.boards - done) / rate)
            speed = f", {rate:.1f} boards/s, {left} left"
        self.say(f"{done:,} of {self.boards:,} boards{speed}, {self.standing()}")

    def close(self) -> None:
        """Take the line away."""
        self.say("")


def _columns() -> int:
    """The width of the terminal that stderr is; output may go elsewhere."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL_COLUMNS
    except (OSError, ValueError):
        return USUAL_COLUMNS


def duration(seconds: float) -> str:
    """A time in its two largest units."""
    minutes = round(seconds / 60)
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if minutes < 120:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days {minutes % 1440 // 60} h"


@dataclass(frozen=True)
class Crew:
    """Who plays the boards of a run, in the words of `bigtop.runs.play_run`."""

    workers: int | Callable[[], int]
    make: Callable[[], Executor] | None
    start: Callable[[Run], None]


@contextmanager
def crew(workers: int | None, cluster: str | None) -> Iterator[Crew]:
    """Those that the options name; a cluster is left in the end.

    Args:
        workers: processes of this machine; 1 plays in this one, None is one a core.
        cluster: address of the scheduler whose workers play instead.
    """
    from bigtop.runs import local_workers, start_players

    if cluster is None:
        workers = workers or cores()
        yield Crew(workers, None if workers == 1 else local_workers(workers), start_players)
        return
    if workers is not None:
        raise BadInput("--workers are processes of this machine: expected no --cluster with it")
    from bigtop.cluster import Cluster, ClusterError

    try:
        there = Cluster(cluster)
    except ClusterError as error:
        raise BadInput(f"--cluster: {error}") from error
    with there:
        yield Crew(there.workers, there.executor, there.start_players)


def play(
    standing: Standing,
    boards: int,
    record: str | None,
    by: Crew,
    brief: Callable[[], str] | None,
    report: Callable[[], str],
) -> float:
    """Play a run to its end; what goes wrong is told in one line, with how to go on.

    Args:
        standing: of a run that has not begun; counts its boards.
        boards: how many, those in the record included.
        record: file to go on from and to write to.
        by: who plays them.
        brief: how the run stands, in a few words for the progress line; None for no line.
        report: how it stands, for when it is interrupted.

    Returns:
        Seconds that it took.
    """
    from bigtop.cluster import ClusterError
    from bigtop.runs import (
        PlayerRefusedError,
        RecordInUseError,
        RunMismatchError,
        end_local_workers,
        play_run,
    )

    progress = Progress(boards, brief)
    started = time.perf_counter()
    path = Path(record) if record else None
    going_on = "; the same command goes on from what was written" if record else ""
    played = play_run(standing, boards, path, by.workers, by.make, by.start)
    try:
        if path is not None and path.exists():
            progress.say(f"reading {path}")
        for done in played:
            progress.tell(done)
    except (RunMismatchError, RecordInUseError, PlayerRefusedError) as error:
        raise BadInput(str(error)) from error
    except (ClusterError, BrokenExecutor) as error:
        raise Failure(f"the workers are lost: {error}{going_on}") from error
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise Failure(f"{error.strerror or error}{where}{going_on}") from error
    except KeyboardInterrupt:
        end_local_workers()
        played.close()
        progress.close()
        if standing.boards:
            click.echo(report(), err=True)
        if record:
            complain(f"to go on: {command_again(standing.run.seed)}")
        raise click.exceptions.Exit(STATUS_INTERRUPTED) from None
    finally:
        progress.close()
    return time.perf_counter() - started


def command_again(seed: int) -> str:
    """The command that was given, with the seed that was drawn."""
    words = list(sys.argv[1:])
    if "--seed" not in words and not any(word.startswith("--seed=") for word in words):
        words += ["--seed", str(seed)]
    return shlex.join(["bigtop", *words])


def plain(estimate: Estimate) -> str:
    """A mean with half of its 95% interval."""
    if estimate.mean is None:
        return "-"
    if estimate.ci95 is None:
        return f"{estimate.mean:+.2f}"
    return f"{estimate.mean:+.2f} +- {(estimate.ci95[1] - estimate.ci95[0]) / 2:.2f}"
