"""The players of a match: engines of Bigtop, classes of the user's, and other programs.

`make_player` makes one from a spec. Each of them is asked for one move at a time, is shown what
its seat sees and nothing else, and fails in one way only, with `PlayerFailure`.

A class of the user's runs in a process of its own, as a program does: it may hang, crash or
print what it likes without harm, and a hidden card is nowhere in its memory.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import shlex
import signal
import subprocess
import sys
import time
import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final, Literal, Protocol

from bigtop.core.rng import Rng
from bigtop.engines import ENGINES, SIMS, TIME, Engine, EngineSpecError, Memory, make_engine
from bigtop.notation import IllegalMoveError, NotationError, Position
from bigtop.protocol import VERSION, Clock, go_line, one_line, with_budget

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = [
    "REASONS",
    "Clock",
    "EnginePlayer",
    "Limits",
    "MatchPlayer",
    "Player",
    "PlayerFailure",
    "Program",
    "ProgramPlayer",
    "PythonPlayer",
    "Why",
    "decision_seed",
    "make_player",
    "parse_budget",
    "shown_to",
]

HANDSHAKE_SECONDS: Final = 10.0
"""For a program to start and identify itself, and whenever it is asked whether it is ready."""
GRACE_SECONDS: Final = 1.0
"""How much later than its budget of time an answer may come."""
UNTIMED_SECONDS: Final = 60.0
"""For an answer when the budget is not a time."""
CLOSE_SECONDS: Final = 1.0
"""For a program to end by itself when it is told to quit, or has closed its output."""
LINE_LIMIT: Final = 64 * 1024
"""Bytes of the longest line that is read from a program."""
OUTPUT_LIMIT: Final = 1024 * 1024
"""Bytes that a program may write without answering."""

POLL_SECONDS: Final = 0.05
"""How often it is looked whether a silent program still runs."""
STDERR_KEPT: Final = 4096
"""Bytes of the end of a program's standard error that are kept for messages."""
STDERR_LINES: Final = 3
"""Lines of it that a message quotes."""
CHUNK: Final = 1 << 16

Why = Literal["crashed", "illegal move", "too late", "flooded", "protocol"]

REASONS: Final[tuple[Why, ...]] = ("crashed", "illegal move", "too late", "flooded", "protocol")
"""Every reason for which a player can lose a round without playing it to its end."""


class Player(Protocol):
    """What a class has to have to play, as `python:MODULE:CLASS`.

    It is called without arguments to make the object, which then plays one seat at a time, in
    many rounds. If it has a method `new_round(self) -> None`, that is called before each round.
    The global generator of the module `random` is seeded before each call, so that rounds repeat.
    """

    def choose(self, position: Position, clock: Clock) -> str:
        """The token of a legal move.

        Args:
            position: as the acting seat sees it, with the moves since the deal.
            clock: the budget; it must be kept when it is a time.
        """

    def flip(self, position: Position) -> bool:
        """Whether the acting seat turns its hand over before the round.

        Args:
            position: in the flip phase, as the acting seat sees it; nothing tells what the
                others choose.
        """


class PlayerFailure(Exception):
    """A player did not play on: it loses the round.

    Attributes:
        why: the reason, one of `REASONS`. It is the same whenever the round is played again.
        detail: what happened, on one line; it may hold what does not repeat.
    """

    def __init__(self, why: Why, detail: str) -> None:
        self.why: Why = why
        self.detail = one_line(detail, 600)
        super().__init__(f"{why}: {self.detail}")

    def __reduce__(self) -> tuple[type[PlayerFailure], tuple[Why, str]]:
        """Pickle by what it was made of."""
        return type(self), (self.why, self.detail)


@dataclass(frozen=True)
class Limits:
    """What is asked of a program, times in seconds, sizes in bytes."""

    handshake: float = HANDSHAKE_SECONDS
    """To identify itself, and to say that it is ready."""
    grace: float = GRACE_SECONDS
    """Beyond its budget of time."""
    untimed: float = UNTIMED_SECONDS
    """To answer when the budget is not a time."""
    close: float = CLOSE_SECONDS
    """To end when told, or after it closed its output."""
    line: int = LINE_LIMIT
    """Of a line."""
    output: int = OUTPUT_LIMIT
    """Of what is written without an answer."""


LIMITS: Final = Limits()


def decision_seed(seed: int, position: Position) -> int:
    """The seed of one decision, a pure function of the round's seed and of the ply.

    Args:
        seed: of the player in this round, 0 to 2**64 - 1.
        position: before the decision. The ply is the number of decisions made in the round
            before it, the choices of the flip phase included, as far as the position knows.
    """
    ply = position.turn if position.flipping else position.players + position.round.made
    return Rng(seed).split(ply).next64()


def shown_to(position: Position) -> Position:
    """What the acting seat is shown: its view, in the flip phase without the others' choices.

    All choose at the same time, so what the seats before it chose is not told.
    """
    seen = position.view(position.turn)
    return Position.from_round(seen.round, seen.game) if seen.flipping else seen


class MatchPlayer(ABC):
    """A player as a match uses it: one seat, one decision at a time.

    Use it as a context manager, or `close` it. One object must not play two seats of the same
    round, nor the same deal in two seats: it may remember what it saw.

    Attributes:
        spec: what it was named by, for records.
        clock: its budget, to be handed to `choose`.
    """

    spec: str
    clock: Clock
    _seed: int

    @abstractmethod
    def start(self) -> None:
        """Get ready, so that a player which cannot play is found out before the first round.

        Not needed otherwise: a player starts by itself.

        Raises:
            PlayerFailure: it cannot.
        """

    def new_round(self, seed: int) -> None:
        """Begin a round, after whatever happened in the round before.

        Args:
            seed: 0 to 2**64 - 1; the decisions of the round depend on it, and of what was played
                before on nothing but the rounds of the same game.

        Raises:
            PlayerFailure: it cannot.
        """
        self._seed = seed

    @abstractmethod
    def choose(self, position: Position, clock: Clock) -> str:
        """The token of a legal move, as `Position.token` writes it.

        Args:
            position: the whole one or a view of the acting seat's; just that view is shown.
            clock: the budget of this decision.

        Raises:
            PlayerFailure: it did not give one.
        """

    @abstractmethod
    def flip(self, position: Position) -> bool:
        """Whether the acting seat turns its hand over.

        Args:
            position: in the flip phase, the whole one or a view of the acting seat's.

        Raises:
            PlayerFailure: it did not say.
        """

    @abstractmethod
    def close(self) -> None:
        """End what was started; it may be used again all the same."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.spec}>"


class EnginePlayer(MatchPlayer):
    """An engine of Bigtop.

    Args:
        engine: with its budget.
        seed: of the first round, 0 to 2**64 - 1.
        threads: of a search.
        memory: of a search, in megabytes.
    """

    def __init__(self, engine: Engine, seed: int, threads: int = 1, memory: int = 256) -> None:
        self.engine = engine
        self.spec = engine.spec
        self.clock = _clock_of(engine)
        self.threads = threads
        self.memory = memory
        self._seed = seed
        self._others = Memory()

    def start(self) -> None:
        """Nothing has to be done."""

    def close(self) -> None:
        """Nothing is running."""

    def choose(self, position: Position, clock: Clock) -> str:
        """The engine's best move; a budget other than its own replaces it."""
        engine = self.engine if clock == self.clock else with_budget(self.engine, clock)
        return self._answer(engine, position)

    def flip(self, position: Position) -> bool:
        """The engine's choice, with its own budget."""
        return self._answer(self.engine, position) == "flip"

    def _answer(self, engine: Engine, position: Position) -> str:
        seed = decision_seed(self._seed, position)
        shown = shown_to(position)
        known = self._others.recall(shown)
        try:
            answer = engine.answer(shown, seed, self.threads, self.memory, seats=known)
            self._others.learn(answer)
            return answer.move
        except Exception as error:
            raise PlayerFailure("crashed", f"{type(error).__name__}: {error}") from error


def _clock_of(engine: Engine) -> Clock:
    """The budget in an engine's options; none for one that decides at once."""
    sims, seconds = engine.options.get("sims"), engine.options.get("time")
    return Clock(None if sims is None else int(sims), None if seconds is None else float(seconds))


# Programs -----------------------------------------------------------------------------------


class Program:
    """A process that is spoken to line by line, and never waited for without a deadline.

    It leads a process group of its own, which is killed as a whole when it does not end by
    itself. Nothing here runs in a thread.

    Args:
        command: the program and its arguments; no shell reads them.
        limits: of its output, and the time it gets to end.
        environment: its environment variables; None for those of this process.

    Raises:
        PlayerFailure: it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits = LIMITS,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.limits = limits
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=environment,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise PlayerFailure(
                "crashed", f"it cannot be started: {reason}: {command[0]}"
            ) from None
        self._stdin, self._stdout, self._stderr = self._pipes()
        self._selector = selectors.DefaultSelector()
        self._watched: set[IO[bytes] | int] = set()
        for pipe in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(pipe.fileno(), False)
        self._watch(self._stdout, selectors.EVENT_READ)
        self._watch(self._stderr, selectors.EVENT_READ)
        pidfd = -1  # becomes readable when the process ends, where there is such a thing
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                pidfd = os.pidfd_open(self._process.pid)
                self._watch(pidfd, selectors.EVENT_READ)
        # Also when nobody holds this object any more, and at the end of the interpreter.
        self._end = weakref.finalize(
            self, _end, self._process, self._selector, self._pipes(), pidfd, os.getpid()
        )
        self._outbox = b""
        self._inbox = b""
        self._lines: deque[str] = deque()
        self._written = 0  # bytes since the last question
        self._flood = ""  # why nothing more is read
        self._words = b""  # the end of its standard error

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdin, process.stdout, process.stderr

    def _watch(self, file: IO[bytes] | int, events: int) -> None:
        if file not in self._watched:
            self._watched.add(file)
            self._selector.register(file, events)

    def _unwatch(self, file: IO[bytes] | int) -> None:
        if file in self._watched:
            self._watched.remove(file)
            self._selector.unregister(file)

    @property
    def pid(self) -> int:
        """The process id, which is also that of its group."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process has ended; what it wrote before may still be read."""
        if self._process.returncode is not None:
            return True
        # Not poll(): that would free the id, and the group could no longer be killed safely.
        if hasattr(os, "waitid"):
            look = os.WEXITED | os.WNOHANG | os.WNOWAIT
            try:
                return os.waitid(os.P_PID, self._process.pid, look) is not None
            except ChildProcessError:  # somebody else waited for it
                return True
        return self._process.poll() is not None

    @property
    def status(self) -> int | None:
        """The exit status, after `close` or `kill`; minus the signal that ended it."""
        return self._process.returncode

    @property
    def last_words(self) -> str:
        """The last lines of its standard error."""
        lines = self._words.decode("utf-8", "replace").splitlines()
        return " / ".join([line.strip() for line in lines if line.strip()][-STDERR_LINES:])

    def send(self, *lines: str) -> None:
        """Write lines, as far as it reads them; the rest follows while it is listened to."""
        self._outbox += "".join([f"{line}\n" for line in lines]).encode("ascii")
        self._written = 0
        self._write()

    def receive(self, deadline: float, wanted: str) -> str:
        """The next line that it writes, without its end.

        Args:
            deadline: on the clock of `time.monotonic`.
            wanted: what is waited for, for the message.

        Raises:
            PlayerFailure: it ended, flooded its output, or the deadline passed.
        """
        while not self._lines:
            if self._flood:
                raise PlayerFailure("flooded", f"{self._flood}, waiting for {wanted}")
            left = deadline - time.monotonic()
            if left <= 0:
                raise PlayerFailure("too late", f"no {wanted}{self._quoted()}")
            if self._stdout not in self._watched or self.ended:
                self._finish(wanted)
            else:
                self._attend(min(left, POLL_SECONDS))
        return self._lines.popleft()

    def _finish(self, wanted: str) -> None:
        """Read what a program that has ended, or closed its output, left; raise if no line."""
        until = time.monotonic() + self.limits.close
        while not self.ended and time.monotonic() < until:
            self._attend(POLL_SECONDS)
        # A process that it started itself may hold the pipes open, and even write: no end comes.
        while self._attend(0) and not self._flood and time.monotonic() < until:
            pass
        if self._inbox and not self._lines:
            self._inbox += b"\n"
            self._split()
        if self._lines or self._flood:
            return
        if not self.ended:
            raise PlayerFailure("protocol", f"it closed its output, waiting for {wanted}")
        self.kill()
        raise PlayerFailure("crashed", f"{self._fate()}, waiting for {wanted}{self._quoted()}")

    def _fate(self) -> str:
        status = self._process.returncode
        if status is None or status >= 0:
            return f"it ended with status {status}"
        with suppress(ValueError):
            return f"it was ended by {signal.Signals(-status).name}"
        return f"it was ended by signal {-status}"

    def _quoted(self) -> str:
        words = self.last_words
        return f"; it said: {words}" if words else ""

    def _attend(self, seconds: float) -> bool:
        """Read and write what can be at once, or wait so long for it; whether there was any."""
        events = self._selector.select(seconds)
        for key, _ in events:
            if key.fileobj is self._stdin:
                self._write()
            elif key.fileobj is self._stdout:
                self._read()
            elif key.fileobj is self._stderr:
                self._overhear()
            else:
                self._unwatch(key.fd)
        return bool(events)

    def _write(self) -> None:
        try:
            while self._outbox:
                self._outbox = self._outbox[os.write(self._stdin.fileno(), self._outbox) :]
        except BlockingIOError:
            self._watch(self._stdin, selectors.EVENT_WRITE)
            return
        except BrokenPipeError:  # it does not read any more
            self._outbox = b""
        self._unwatch(self._stdin)

    def _read(self) -> None:
        try:
            chunk = os.read(self._stdout.fileno(), CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._unwatch(self._stdout)
            return
        self._inbox += chunk
        self._written += len(chunk)
        self._split()
        if not self._flood and self._written > self.limits.output:
            self._flood = f"more than {self.limits.output} bytes without an answer"
        if self._flood:
            self._unwatch(self._stdout)

    def _split(self) -> None:
        """Take the lines out of what was read; a line that is too long is the last one."""
        *lines, self._inbox = self._inbox.split(b"\n")
        for line in lines:
            if len(line) > self.limits.line:
                break
            self._lines.append(line.decode("utf-8", "backslashreplace").strip())
        else:
            if len(self._inbox) <= self.limits.line:
                return
        self._flood = f"a line of more than {self.limits.line} bytes"

    def _overhear(self) -> None:
        try:
            chunk = os.read(self._stderr.fileno(), CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            self._unwatch(self._stderr)
        self._words = (self._words + chunk)[-STDERR_KEPT:]

    def close(self, *farewell: str) -> None:
        """Say the last lines, end its input, and kill it when it does not end in time."""
        if self._process.returncode is None:
            self.send(*farewell)
            deadline = time.monotonic() + self.limits.close
            while not self.ended and time.monotonic() < deadline:
                if not self._outbox and not self._stdin.closed:
                    self._stdin.close()
                self._attend(POLL_SECONDS)
                self._lines.clear()
        self.kill()

    def kill(self) -> None:
        """Kill what is left of the process group, and take the process off the system's list."""
        self._watched.clear()
        self._end()


def _end(
    process: subprocess.Popen[bytes],
    selector: selectors.BaseSelector,
    pipes: Sequence[IO[bytes]],
    pidfd: int,
    owner: int,
) -> None:
    """Kill a process and its group, and close what led to it."""
    # A forked copy of this process must not end what is not its own. As long as the process was
    # not waited for, its id still names it and its group.
    if os.getpid() == owner and process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    selector.close()
    for pipe in pipes:
        pipe.close()
    if pidfd >= 0:
        os.close(pidfd)


OWN_BUDGET: Final = Clock()
"""The host names no budget: the player has its own."""


class ProgramPlayer(MatchPlayer):
    """Another program that speaks the engine protocol (`docs/PROTOCOL.md`).

    It is started when it is first needed, and again for the next round after it failed.

    Args:
        command: the program and its arguments; no shell reads them.
        seed: of the first round, 0 to 2**64 - 1.
        budget: of a decision.
        spec: what it is called in records; the command line when it is empty.
        limits: how long it is waited for, and how much is read.
        threads: told to it if it has such an option.
        memory: megabytes, told to it if it has such an option.
        environment: its environment variables; None for those of this process.

    Attributes:
        name: what it calls itself, once it has been started.
    """

    def __init__(
        self,
        command: Sequence[str],
        seed: int,
        budget: Clock = OWN_BUDGET,
        *,
        spec: str = "",
        limits: Limits = LIMITS,
        threads: int = 1,
        memory: int = 256,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.command = tuple(command)
        self.spec = spec or f"cmd:{shlex.join(command)}"
        self.clock = budget
        self.limits = limits
        self.name = ""
        self._settings = {"threads": threads, "memory": memory}
        self._environment = environment
        self._program: Program | None = None
        self._told = False  # of the round that it plays
        self._seed = seed

    def start(self) -> None:
        """Start the program and let it identify itself, unless it runs already."""
        if self._program is None:
            self._program = Program(self.command, self.limits, self._environment)
            self._told = False
            with self._conversation() as program:
                self._greet(program)

    def new_round(self, seed: int) -> None:
        """Begin a round; a program that has ended since the last one is started again."""
        super().new_round(seed)
        if self._program is not None and self._program.ended:
            self._drop()
        self.start()
        with self._conversation() as program:
            program.send("newround", "isready")
            self._await(program, "readyok", self.limits.handshake)
        self._told = True

    def choose(self, position: Position, clock: Clock) -> str:
        """What the program answers, checked."""
        return self._ask(position, clock)

    def flip(self, position: Position) -> bool:
        """What the program answers, checked; the budget is that of the moves."""
        return self._ask(position, self.clock) == "flip"

    def close(self) -> None:
        """Tell the program to quit, and kill it when it does not."""
        if self._program is not None:
            self._program.close("quit")
            self._program = None

    def _drop(self) -> None:
        if self._program is not None:
            self._program.kill()
            self._program = None

    @contextmanager
    def _conversation(self) -> Iterator[Program]:
        """The running program; one that failed, or was interrupted half-way, is killed."""
        assert self._program is not None
        try:
            yield self._program
        except BaseException:
            self._drop()
            raise

    def _greet(self, program: Program) -> None:
        deadline = time.monotonic() + self.limits.handshake
        program.send(f"bep {VERSION}")
        offered = set()
        while True:
            line = program.receive(deadline, f"bepok within {self.limits.handshake:g} s")
            word, _, rest = line.partition(" ")
            if word == "bepok":
                break
            if word == "error":
                raise PlayerFailure("protocol", f"it says: {rest}")
            if line.startswith("id name "):
                self.name = one_line(line.removeprefix("id name "))
            elif found := re.match(r"option name (\S+) ", line):
                offered.add(found[1])
        if rest not in map(str, range(1, VERSION + 1)):
            raise PlayerFailure(
                "protocol", f"expected bepok and a version up to {VERSION}, got {line!r}"
            )
        settings = [
            f"setoption name {name} value {value}"
            for name, value in self._settings.items()
            if name in offered
        ]
        program.send(*settings, "isready")
        self._await(program, "readyok", self.limits.handshake)

    def _await(self, program: Program, wanted: str, seconds: float) -> str:
        """What follows the word wanted, on the first line that is not about something else."""
        deadline = time.monotonic() + seconds
        while True:
            line = program.receive(deadline, f"{wanted} within {seconds:g} s")
            word, _, rest = line.partition(" ")
            if word == wanted:
                return rest.strip()
            if word == "error":
                raise PlayerFailure("protocol", f"it says: {rest}")
            if word == "bestmove":
                raise PlayerFailure("protocol", f"it answered without being asked: {line!r}")
            if word not in ("info", ""):
                raise PlayerFailure("protocol", f"expected {wanted} or info, got {line!r}")

    def _ask(self, position: Position, clock: Clock) -> str:
        shown = shown_to(position)
        self.start()
        with self._conversation() as program:
            # Whatever it still had to say to the question before comes before this readyok.
            lines = [] if self._told else ["newround"]
            program.send(*lines, f"position {shown.history}", f"now {shown}", "isready")
            self._told = True
            self._await(program, "readyok", self.limits.handshake)
            seconds = (
                self.limits.untimed if clock.seconds is None else clock.seconds + self.limits.grace
            )
            program.send(go_line(clock, decision_seed(self._seed, position)))
            token = self._await(program, "bestmove", seconds)
            if len(token.split()) != 1:
                raise PlayerFailure(
                    "protocol", f"expected one move after bestmove, got {token[:80]!r}"
                )
        try:
            return shown.token(shown.code(token))
        except (NotationError, IllegalMoveError) as wrong:
            raise PlayerFailure("illegal move", str(wrong)) from None


HOST: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from bigtop.protocol import host_class; host_class(*sys.argv[2:])"
)
"""The program that plays a class: what can be imported here can be imported there."""


class PythonPlayer(ProgramPlayer):
    """A class of the user's (see `Player`), in a process of its own.

    Args:
        module: the module that has the class; it may lie in the current directory.
        name: of the class.
        seed: of the first round, 0 to 2**64 - 1.
        budget: of a decision.
        limits: how long it is waited for, and how much is read.
    """

    def __init__(
        self,
        module: str,
        name: str,
        seed: int,
        budget: Clock = OWN_BUDGET,
        *,
        limits: Limits = LIMITS,
    ) -> None:
        path = json.dumps([entry for entry in sys.path if isinstance(entry, str)])
        super().__init__(
            [sys.executable, "-P", "-c", HOST, path, module, name],
            seed,
            budget,
            spec=f"python:{module}:{name}",
            limits=limits,
            # The order of a set decides nothing, so that rounds repeat.
            environment={**os.environ, "PYTHONHASHSEED": "0"},
        )


# Specs --------------------------------------------------------------------------------------

_CLASS: Final = re.compile(r"python:([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*)")


def parse_budget(text: str) -> Clock:
    """Read a budget, `sims=N` or `time=S`.

    Raises:
        EngineSpecError: it is neither.
    """
    key, _, value = text.partition("=")
    try:
        if key == "sims":
            return Clock(sims=int(SIMS.parse(value)))
        if key == "time":
            return Clock(seconds=float(TIME.parse(value)))
    except ValueError as wrong:
        raise EngineSpecError(f"expected {wrong} for {key}: {value!r}") from None
    raise EngineSpecError(f"expected a budget such as sims=1000 or time=0.5: {text[:60]!r}")


def make_player(
    spec: str,
    seed: int,
    budget: Clock | str | None = None,
    *,
    threads: int = 1,
    memory: int = 256,
    limits: Limits = LIMITS,
) -> MatchPlayer:
    """The player that a spec names; nothing is started yet.

    Args:
        spec: of an engine of Bigtop, `python:MODULE:CLASS`, or `cmd:PROGRAM ARGS`. It must come
            from the user, never out of a file: it says what is run.
        seed: of the first round, 0 to 2**64 - 1.
        budget: for players from outside, also as the text that `parse_budget` reads; the engines
            of Bigtop have theirs in the spec.
        threads: of a search.
        memory: of a search, in megabytes.
        limits: for players from outside.

    Raises:
        EngineSpecError: it names nobody, or the budget is none.
    """
    kind, _, rest = spec.partition(":")
    if isinstance(budget, str):
        budget = parse_budget(budget)
    budget = budget or OWN_BUDGET
    if kind == "python":
        found = _CLASS.fullmatch(spec)
        if found is None:
            raise EngineSpecError(f"expected python:MODULE:CLASS: {spec[:60]!r}")
        return PythonPlayer(found[1], found[2], seed, budget, limits=limits)
    if kind == "cmd":
        try:
            command = shlex.split(rest)
        except ValueError as wrong:
            raise EngineSpecError(
                f"expected a command line after cmd: ({str(wrong).lower()}): {spec[:60]!r}"
            ) from None
        if not command:
            raise EngineSpecError(f"expected cmd:PROGRAM ARGS: {spec[:60]!r}")
        return ProgramPlayer(
            command,
            seed,
            budget,
            spec=f"cmd:{rest.strip()}",
            limits=limits,
            threads=threads,
            memory=memory,
        )
    if kind not in ENGINES:
        raise EngineSpecError(
            f"expected an engine ({', '.join(ENGINES)}), python:MODULE:CLASS or "
            f"cmd:PROGRAM ARGS: {spec[:60]!r}"
        )
    return EnginePlayer(make_engine(spec), seed, threads, memory)
