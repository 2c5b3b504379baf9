"""A Dask cluster as the place where boards are played; needs the extra `bigtop[cluster]`.

Dask itself gives what a dead worker had in hand to another one. What it gives up (a chunk that
several workers died with) and what is lost with the connection comes back as `BrokenExecutor`, as
from a pool of local processes, so that a run treats both alike: it plays those boards again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from bigtop.boards import Run
from bigtop.runs import PlayerRefusedError, start_players

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
"""For the scheduler to answer, and for a first worker to be there."""
CLOSE_SECONDS = 2.0
"""For leaving a cluster, also one that does not answer any more."""
DISTRIBUTION = "bigtop"
"""Whose version the cluster is asked for."""
COUNT_SECONDS = 5.0
"""How often the workers are counted; they may come and go during a run."""

P = ParamSpec("P")
T = TypeVar("T")


class ClusterError(Exception):
    """The cluster cannot be used; one line says why."""


class Cluster:
    """A connection to a Dask scheduler. Use it as a context manager.

    Args:
        address: of the scheduler, as in `tcp://10.0.0.5:8786`.

    Raises:
        ClusterError: Dask is not installed, nobody answers there, or there are no workers.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._client: Client | None = None
        self._workers = 0
        self._counted = 0.0
        client = self._connected()
        try:
            client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            self.close()
            raise ClusterError(
                f"the cluster at {address} has no workers: none came within {CONNECT_SECONDS:g} s"
            ) from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the cluster; what it still works on for us is dropped."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # it may be gone, and there is nothing more to be done
                client.close(timeout=CLOSE_SECONDS)

    def workers(self) -> int:
        """How many boards are played at a time: the threads of all workers there are now."""
        now = time.monotonic()
        if not self._workers or now - self._counted > COUNT_SECONDS:
            self._counted = now
            with suppress(Exception):  # the old number will do until the connection is back
                self._workers = sum(self._connected().nthreads().values())
        return max(1, self._workers)

    def executor(self) -> Executor:
        """A new executor; the connection is made again if it was lost.

        Raises:
            ClusterError: it cannot be.
        """
        return _Lent(self._connected().get_executor(pure=False))

    def start_players(self, run: Run) -> None:
        """`bigtop.runs.start_players` where they will play: on a worker.

        Scheduler and workers must have the same version of Bigtop, or games could differ.

        Raises:
            PlayerRefusedError: one of them cannot start, or somebody there has
                another Bigtop, or none.
            ClusterError: the connection was lost.
        """
        self._check_versions()
        executor = self.executor()
        try:
            executor.submit(start_players, run).result()
        except BrokenExecutor as error:
            raise ClusterError(f"the cluster at {self.address}: {error}") from error
        finally:
            executor.shutdown(wait=False, cancel_futures=True)

    def _check_versions(self) -> None:
        """Look at all who are there now: without Bigtop a worker would die of its first board."""
        client = self._connected()
        ours = version("bigtop")
        try:
            found = {"scheduler": client.run_on_scheduler(version, DISTRIBUTION)}
        except PackageNotFoundError as error:
            found = {"scheduler": error}
        except OSError as error:
            raise ClusterError(f"the cluster at {self.address}: {error}") from error
        # a worker that cannot be asked is about to be lost, or to come back
        found |= client.run(version, DISTRIBUTION, on_error="return")
        for who, theirs in found.items():
            if theirs == ours or isinstance(theirs, OSError):
                continue
            name = "scheduler" if who == "scheduler" else f"worker {who}"
            has = "no Bigtop" if isinstance(theirs, Exception) else f"Bigtop {theirs}"
            raise PlayerRefusedError(
                f"the {name} of the cluster at {self.address} has {has}, expected {ours}"
            )

    def _connected(self) -> Client:
        """The connection, a new one when there is none."""
        if self._client is not None:
            if self._client.status == "running":
                return self._client
            self.close()
        try:
            from distributed import Client
            from distributed.comm.addressing import resolve_address
        except ImportError as error:
            raise ClusterError(
                f"a cluster needs Dask, pip install 'bigtop[cluster]' ({error})"
            ) from error
        # What Dask has to say about a lost connection is said in one line of our own. The second
        # logger has a level of its own in Dask's configuration.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        try:
            resolve_address(self.address)  # a Client with a bad address is slow to clean up
            self._client = Client(
                self.address, timeout=CONNECT_SECONDS, set_as_default=False, name="bigtop"
            )
        except ValueError as error:
            raise ClusterError(
                f"expected the address of a Dask scheduler, as tcp://HOST:8786:"
                f" {self.address!r} ({error})"
            ) from error
        except OSError as error:
            raise ClusterError(
                f"no Dask scheduler answers at {self.address!r} ({error})"
            ) from error
        return self._client


class _Lent(Executor):
    """Dask's executor with what it lacks of the interface: cancelling, and broken futures."""

    def __init__(self, executor: Any) -> None:
        self._executor = executor

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a call made by a worker."""
        try:
            inner: Future[T] = self._executor.submit(fn, *args, **kwargs)
        except Exception as error:  # the connection has been lost
            raise BrokenExecutor(str(error)) from error
        outer: Future[T] = Future()

        def pass_on(done: Future[T]) -> None:
            if not outer.set_running_or_notify_cancel():
                return
            try:
                outer.set_result(done.result())
            except BaseException as error:
                outer.set_exception(_lost(error))

        inner.add_done_callback(pass_on)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let go of it; Dask cancels what is under way unless it is waited for."""
        with suppress(Exception):  # nothing is under way on a cluster that is gone
            self._executor.shutdown(wait=wait and not cancel_futures)


def _lost(error: BaseException) -> BaseException:
    """The error of a call; that of one which got lost says just that."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return BrokenExecutor("several workers died with the same boards")
    if isinstance(error, CancelledError):
        return BrokenExecutor("the connection was lost")
    return error
