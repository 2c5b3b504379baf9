"""Ctrl-C beside threads: heard at once, raised where it does no harm.

Python raises KeyboardInterrupt in the main thread between any two steps of its code, those of
`threading` and `concurrent.futures` included. A lock that was being taken then stays taken, and
the thread that wants it next waits for ever. So whoever starts threads, or waits for what they
do, holds the interrupt back for as long as that takes.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from types import FrameType, TracebackType
from typing import TypeVar

HEAR_SECONDS = 0.05
"""The longest time that an interrupt waits for who waits for a future."""

T = TypeVar("T")


class held:
    """Hold an interrupt back until the end of a `with` block, and raise it there.

    Only where Ctrl-C means KeyboardInterrupt: whoever handles the signal otherwise, or ignores
    it, goes on to do so. Blocks within blocks hold nothing more.

    Args:
        hear: called when the interrupt comes; it must not want a lock that the block may hold.
    """

    def __init__(self, hear: Callable[[], object] | None = None) -> None:
        self.heard = False
        self._hear_too = hear
        self._holds = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard = True
        if self._hear_too is not None:
            self._hear_too()

    def __enter__(self) -> held:
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            signal.signal(signal.SIGINT, self._hear)
            self._holds = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._holds:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if self.heard:
                raise KeyboardInterrupt


def waited(future: Future[T]) -> T:
    """The result of a future, waited for; an interrupt ends the waiting.

    Raises:
        KeyboardInterrupt: one came; the future is left as it is.
    """
    with held() as interrupt:
        while not (interrupt.heard or future.done()):
            wait((future,), HEAR_SECONDS)
    return future.result()
