"""The engine protocol, seen from the engine: its words, and `serve`, which speaks it.

`docs/PROTOCOL.md` is the description that engines are written from; the side of the host, which
starts programs and asks them, is `bigtop.players`.
"""

from __future__ import annotations

import math
import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from bigtop.notation import Position

if TYPE_CHECKING:
    from bigtop.engines import Engine, Line

__all__ = [
    "VERSION",
    "Brain",
    "ClassBrain",
    "Clock",
    "EngineBrain",
    "OptionLine",
    "go_line",
    "host_class",
    "parse_info",
    "parse_option",
    "serve",
]

VERSION: Final = 1
"""The version of the protocol that is spoken here."""
COMMAND_LIMIT: Final = 1 << 20
"""Bytes of the longest command that `serve` reads; a round of 1,000 moves needs a tenth of it."""
QUIT_SECONDS: Final = 0.5
"""How long `serve` waits for a running search after `quit`; the process then ends without it."""
INFO_LINES: Final = 5
"""Moves that an engine of Bigtop tells about before its answer."""
SEED_LIMIT: Final = 1 << 64
THREADS_LIMIT: Final = 256
MEMORY_LIMIT: Final = 1 << 20
"""Megabytes."""
MOST_CLASS_ANSWER: Final = 60
"""Characters of what a class answered that are sent on; the longest token has 43."""

_NUMBERS: Final = (
    "rank", "visits", "points", "points_se", "margin", "margin_se", "win", "value",
    "sims", "worlds", "seconds", "seed",
)  # fmt: skip
_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_OPTION: Final = re.compile(r"option name (\S+) type (\S+) default (\S*)((?: \S+ \S+)*)")
_TYPES: Final = ("check", "spin", "combo", "string")


@dataclass(frozen=True)
class Clock:
    """The budget of one decision; without either figure the player uses its own."""

    sims: int | None = None
    """Simulations."""
    seconds: float | None = None
    """Wall time in seconds."""

    def __post_init__(self) -> None:
        if self.sims is not None and self.seconds is not None:
            raise ValueError("expected one budget, sims or seconds, not both")
        if self.sims is not None and self.sims < 1:
            raise ValueError(f"expected at least 1 simulation: {self.sims}")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise ValueError(f"expected a time above 0 seconds: {self.seconds}")


# Lines --------------------------------------------------------------------------------------


def go_line(clock: Clock, seed: int | None = None) -> str:
    """The command that asks for a move.

    Args:
        clock: the budget.
        seed: 0 to 2**64 - 1, for what the engine draws at random.
    """
    words = ["go"]
    if clock.sims is not None:
        words.append(f"sims {clock.sims}")
    if clock.seconds is not None:
        words.append(f"time {max(clock.seconds, 1e-6):.6f}".rstrip("0").rstrip("."))
    if seed is not None:
        words.append(f"seed {seed}")
    return " ".join(words)


def _parse_go(words: Sequence[str]) -> tuple[Clock, int | None]:
    """Read what follows the word `go`; names that are not known are skipped with their value."""
    said: dict[str, str] = {}
    if len(words) % 2:
        raise ValueError(f"expected a value after {words[-1]!r}")
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name in said:
            raise ValueError(f"expected {name} once")
        said[name] = value
    sims, time, seed = (said.get(name) for name in ("sims", "time", "seed"))
    if sims is not None and not re.fullmatch(r"[1-9][0-9]{0,11}", sims):
        raise ValueError(f"expected a whole number from 1 after sims: {sims!r}")
    if time is not None and not (
        re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,9})?", time) and float(time) > 0
    ):
        raise ValueError(f"expected seconds such as 0.5 after time: {time!r}")
    if seed is not None and not (re.fullmatch(r"[0-9]{1,20}", seed) and int(seed) < SEED_LIMIT):
        raise ValueError(f"expected a number from 0 to 2^64-1 after seed: {seed!r}")
    return (
        Clock(None if sims is None else int(sims), None if time is None else float(time)),
        None if seed is None else int(seed),
    )


@dataclass(frozen=True)
class OptionLine:
    """An option as an engine offers it."""

    name: str
    type: str
    """`check`, `spin`, `combo` or `string`."""
    default: str
    least: int | None = None
    """The lowest value of a `spin`."""
    most: int | None = None
    """The highest value of a `spin`."""
    choices: tuple[str, ...] = ()
    """The values of a `combo`."""

    def __str__(self) -> str:
        words = [f"option name {self.name} type {self.type} default {self.default}"]
        if self.least is not None:
            words.append(f"min {self.least}")
        if self.most is not None:
            words.append(f"max {self.most}")
        words += [f"var {choice}" for choice in self.choices]
        return " ".join(words)


def parse_option(line: str) -> OptionLine:
    """Read an `option` line.

    Raises:
        ValueError: it is not written as one.
    """
    found = _OPTION.fullmatch(line)
    if found is None:
        raise ValueError("expected 'option name NAME type TYPE default VALUE', one word each")
    name, kind, default, rest = found.groups()
    if kind not in _TYPES:
        raise ValueError(f"expected one of the types {', '.join(_TYPES)}: {kind!r}")
    least = most = None
    choices = []
    words = rest.split()
    for key, value in zip(words[::2], words[1::2], strict=True):
        if key == "var":
            choices.append(value)
        elif key in ("min", "max"):
            if not re.fullmatch(r"-?[0-9]{1,20}", value):
                raise ValueError(f"expected a whole number after {key}: {value!r}")
            if key == "min":
                least = int(value)
            else:
                most = int(value)
    if kind == "spin" and not re.fullmatch(r"-?[0-9]{1,20}", default):
        raise ValueError(f"expected a whole number as the default of a spin: {default!r}")
    if kind == "check" and default not in ("true", "false"):
        raise ValueError(f"expected true or false as the default of a check: {default!r}")
    if kind == "combo" and default not in choices:
        raise ValueError(f"expected the default of a combo among its var: {default!r}")
    return OptionLine(name, kind, default, least, most, tuple(choices))


def info_line(rank: int, line: Line) -> str:
    """What an engine tells about one of its moves.

    Args:
        rank: 1 for the best.
        line: the move; numbers that it does not have are left out.
    """
    words = [f"info rank {rank} move {line.move} visits {line.visits}"]
    for name in ("points", "points_se", "margin", "margin_se", "win", "value"):
        number = getattr(line, name)
        if number is not None and math.isfinite(number):
            words.append(f"{name} {number:.6g}")
    if line.pv:
        words.append(f"pv {' '.join(line.pv)}")
    return " ".join(words)


def parse_info(line: str) -> dict[str, str]:
    """Read an `info` line: each name with its value, `pv` and `string` with the rest of the line.

    Raises:
        ValueError: it is not written as one.
    """
    words = line.split()
    if words[:1] != ["info"]:
        raise ValueError(f"expected a line that begins with info: {line!r}")
    found: dict[str, str] = {}
    at = 1
    while at < len(words):
        name = words[at]
        if name in ("pv", "string"):
            found[name] = " ".join(words[at + 1 :])
            break
        if at + 1 == len(words):
            raise ValueError(f"expected a value after {name!r}")
        value = words[at + 1]
        if name in _NUMBERS and not _NUMBER.fullmatch(value):
            raise ValueError(f"expected a number after {name}: {value!r}")
        found[name] = value
        at += 2
    return found


def one_line(text: str, most: int = 300) -> str:
    """A text as one printable line of at most so many characters."""
    line = "".join(
        character if character.isprintable() else ascii(character)[1:-1]
        for character in " ".join(text.split())
    )
    return line if len(line) <= most else line[: most - 3] + "..."


# The engine's side --------------------------------------------------------------------------


class Brain(Protocol):
    """What `serve` speaks for."""

    @property
    def name(self) -> str:
        """The name of the engine."""

    @property
    def author(self) -> str:
        """Who wrote it."""

    def options(self) -> Sequence[OptionLine]:
        """What can be set."""

    def set_option(self, name: str, value: str) -> None:
        """Set an option; `ValueError` when there is no such option or value."""

    def new_round(self) -> None:
        """Forget what belongs to the round before."""

    def answer(
        self,
        position: Position,
        clock: Clock,
        seed: int | None,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> str:
        """The token of a move.

        Args:
            position: as the acting seat sees it.
            clock: the budget.
            seed: for what is drawn at random; None when the host gave none.
            stop: set when the answer is wanted at once.
            say: writes a line, for `info`.

        Raises:
            Refusal: this position cannot be answered.
        """


class Refusal(Exception):
    """A brain cannot answer this position, and says why; the conversation goes on."""


class _Gone(Exception):
    """The host does not read any more."""


class _Server:
    """Reads commands in a thread, so that it hears `stop` and `quit` while it searches."""

    def __init__(self, brain: Brain, incoming: int, outgoing: int) -> None:
        self.brain = brain
        self.incoming = incoming
        self.outgoing = outgoing
        self.commands: queue.SimpleQueue[tuple[str, threading.Event | None] | None] = (
            queue.SimpleQueue()
        )
        self.lock = threading.Lock()  # of the output and of `searches`
        self.searches: list[threading.Event] = []
        self.ended = threading.Event()
        self.position: Position | None = None
        self.unread = ""  # why there is no position

    def run(self) -> None:
        threading.Thread(target=self._listen, name="commands", daemon=True).start()
        try:
            while (command := self.commands.get()) is not None:
                self._obey(*command)
        except _Gone:
            pass
        finally:
            self.ended.set()

    def say(self, line: str) -> None:
        data = f"{line}\n".encode("ascii", "backslashreplace")
        with self.lock:
            try:
                while data:
                    data = data[os.write(self.outgoing, data) :]
            except BrokenPipeError:
                raise _Gone from None

    # In the thread that reads

    def _listen(self) -> None:
        try:
            for line in self._lines():
                word = (line.split(maxsplit=1) or [""])[0]
                if word == "quit":
                    break
                if word == "stop":
                    self._stop()
                elif word == "isready" and self.searches:
                    self.say("readyok")
                elif word == "go":
                    stop = threading.Event()
                    with self.lock:
                        self.searches.append(stop)
                    self.commands.put((line, stop))
                elif word:
                    self.commands.put((line, None))
        except (OSError, _Gone):
            pass
        self.commands.put(None)
        self._stop()
        if not self.ended.wait(QUIT_SECONDS):
            # A search that does not look up must not outlive the host that asked for it.
            os._exit(0)

    def _stop(self) -> None:
        with self.lock:
            for search in self.searches:
                search.set()

    def _lines(self) -> Iterator[str]:
        # Not through a buffered reader: a thread that waits in one breaks the interpreter's exit.
        held = b""
        skipping = False
        while chunk := os.read(self.incoming, 1 << 16):
            *lines, held = (held + chunk).split(b"\n")
            for line in lines:
                if not skipping:
                    yield line.decode("utf-8", "backslashreplace")
                skipping = False
            if len(held) > COMMAND_LIMIT:
                held = b""
                if not skipping:
                    self.say(f"error a command of more than {COMMAND_LIMIT} bytes is not read")
                skipping = True
        if held and not skipping:
            yield held.decode("utf-8", "backslashreplace")

    # In the thread that works

    def _obey(self, line: str, stop: threading.Event | None) -> None:
        word, *rest = line.split()
        if word == "bep":
            self._identify(rest)
        elif word == "isready":
            self.say("readyok")
        elif word == "setoption":
            self._set_option(rest)
        elif word == "newround":
            self.position, self.unread = None, ""
            self.brain.new_round()
        elif word == "position":
            self._set_position(line.split(maxsplit=1)[1] if rest else "")
        elif word == "go":
            assert stop is not None
            self._go(rest, stop)
        elif word != "now":  # the position tells it all
            self.say(f"info string unknown command {one_line(word, 40)!r} ignored")

    def _identify(self, words: Sequence[str]) -> None:
        if len(words) != 1 or not re.fullmatch(r"[1-9][0-9]{0,8}", words[0]):
            self.say("error expected the highest version that the host speaks, as in 'bep 1'")
            return
        self.say(f"id name {one_line(self.brain.name)}")
        self.say(f"id author {one_line(self.brain.author)}")
        for option in self.brain.options():
            self.say(str(option))
        self.say(f"bepok {VERSION}")

    def _set_option(self, words: Sequence[str]) -> None:
        if len(words) != 4 or words[0] != "name" or words[2] != "value":
            self.say("error expected 'setoption name NAME value VALUE', one word each")
            return
        if words[1] not in [option.name for option in self.brain.options()]:
            self.say(f"info string unknown option {one_line(words[1], 40)!r} ignored")
            return
        try:
            self.brain.set_option(words[1], words[3])
        except ValueError as wrong:
            self.say(f"error {one_line(str(wrong))}")

    def _set_position(self, text: str) -> None:
        self.position, self.unread = None, ""
        try:
            self.position = Position.parse(text)
        except ValueError as wrong:
            self.unread = one_line(str(wrong))
            self.say(f"error {self.unread}")

    def _go(self, words: Sequence[str], stop: threading.Event) -> None:
        try:
            said = f"bestmove {self._answer(words, stop)}"
        except Refusal as refusal:
            said = f"error {one_line(str(refusal))}"
        finally:
            with self.lock:
                self.searches.remove(stop)
        self.say(said)

    def _answer(self, words: Sequence[str], stop: threading.Event) -> str:
        if self.position is None:
            raise Refusal(self.unread or "expected a position before go")
        try:
            clock, seed = _parse_go(words)
        except ValueError as wrong:
            raise Refusal(str(wrong)) from None
        return self.brain.answer(self.position, clock, seed, stop, self.say)


def serve(brain: Brain, incoming: int = 0, outgoing: int = 1) -> None:
    """Speak the engine protocol until `quit` or the end of the input.

    A search that is still running then is given `QUIT_SECONDS`; after that the process ends,
    so call it only in a process of its own.

    Args:
        brain: who answers.
        incoming: the file descriptor that commands are read from.
        outgoing: the file descriptor that lines are written to.
    """
    _Server(brain, incoming, outgoing).run()


class EngineBrain:
    """An engine of Bigtop as `serve` speaks for it.

    Args:
        engine: with its own budget, which holds when the host gives none.
        threads: of a search.
        memory: of a search, in megabytes.
    """

    author = "the Bigtop contributors"

    def __init__(self, engine: Engine, threads: int = 1, memory: int = 256) -> None:
        from bigtop.engines import Memory

        self.engine = engine
        self.threads = threads
        self.memory = memory
        self._others = Memory()

    @property
    def name(self) -> str:
        """The canonical spec behind the name of the program."""
        return f"Bigtop {self.engine.spec}"

    def options(self) -> list[OptionLine]:
        """Threads and memory, and what the engine's spec can set, its budget apart."""
        return [
            OptionLine("threads", "spin", str(self.threads), 1, THREADS_LIMIT),
            OptionLine("memory", "spin", str(self.memory), 1, MEMORY_LIMIT),
            *(
                OptionLine(option.name, "string", f"{self.engine.options[option.name]:g}")
                for option in self.engine.info.options
                if option.name not in ("sims", "time")
            ),
        ]

    def set_option(self, name: str, value: str) -> None:
        """Set an option; `ValueError` says what was expected."""
        from bigtop.engines import Engine

        if name in ("threads", "memory"):
            most = THREADS_LIMIT if name == "threads" else MEMORY_LIMIT
            if not re.fullmatch(r"[1-9][0-9]{0,6}", value) or int(value) > most:
                raise ValueError(f"expected a whole number from 1 to {most} for {name}: {value!r}")
            setattr(self, name, int(value))
            return
        (option,) = (option for option in self.engine.info.options if option.name == name)
        try:
            number = option.parse(value)
        except ValueError as wrong:
            raise ValueError(f"expected {wrong} for {name}: {value!r}") from None
        self.engine = Engine(self.engine.info, {**self.engine.options, name: number})

    def new_round(self) -> None:
        """Of a round nothing is kept but who the others of the same game seem to be."""

    def answer(
        self,
        position: Position,
        clock: Clock,
        seed: int | None,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> str:
        """The engine's best move, after `info` lines about its best ones."""
        if seed is None:
            seed = int.from_bytes(os.urandom(8), "big")
            say(f"info seed {seed}")
        engine = with_budget(self.engine, clock)
        try:
            known = self._others.recall(position)
            found = engine.answer(position, seed, self.threads, self.memory, stop, known)
        except ValueError as refused:  # over, hidden, or too little memory
            raise Refusal(str(refused)) from refused
        except (MemoryError, RuntimeError) as lacking:  # the host may set more than the machine has
            if isinstance(lacking, RuntimeError) and str(lacking) != "can't start new thread":
                raise
            raise Refusal(f"no room for a search in {self.memory} MB of memory") from lacking
        self._others.learn(found)
        if found.sims:
            say(f"info sims {found.sims} worlds {found.worlds} seconds {found.seconds:.6f}")
        for rank, line in enumerate(found.lines[:INFO_LINES], 1):
            say(info_line(rank, line))
        return found.move


def with_budget(engine: Engine, clock: Clock) -> Engine:
    """The engine with this budget; as it is when there is none, or when it decides at once."""
    from bigtop.engines import Engine

    takes = {option.name for option in engine.info.options}
    budget: dict[str, float | int]
    if clock.sims is not None and "sims" in takes:
        budget = {"sims": clock.sims}
    elif clock.seconds is not None and "time" in takes:
        budget = {"time": clock.seconds}
    else:
        return engine
    kept = {name: value for name, value in engine.options.items() if name not in ("sims", "time")}
    return Engine(engine.info, kept | budget)


# A class of the user's ----------------------------------------------------------------------


class ClassBrain:
    """A player class of the user's (see `bigtop.players.Player`) as `serve` speaks for it.

    Args:
        player: the object; its method `new_round`, if it has one, is called before each round.
        name: what it is called.
    """

    author = "its user"

    def __init__(self, player: Any, name: str) -> None:
        self.player = player
        self.name = name

    def options(self) -> list[OptionLine]:
        """None."""
        return []

    def set_option(self, name: str, value: str) -> None:
        """There is nothing to set."""
        raise ValueError(f"there is no option {name!r}")

    def new_round(self) -> None:
        """Tell the player, if it wants to know."""
        told = getattr(self.player, "new_round", None)
        if told is not None:
            told()

    def answer(
        self,
        position: Position,
        clock: Clock,
        seed: int | None,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> str:
        """What `choose` or, in the flip phase, `flip` of the player says."""
        import random

        random.seed(seed)
        if position.flipping:
            flips = self.player.flip(position)
            if flips not in (True, False):
                raise TypeError(f"expected True or False from flip(), got {flips!r}")
            return "flip" if flips else "keep"
        token = self.player.choose(position, clock)
        if not isinstance(token, str):
            raise TypeError(f"expected the token of a move from choose(), got {token!r}")
        # Whatever it is, it has to be one word on one line: the host says what is wrong with it.
        return "".join(c if "!" <= c <= "~" else "?" for c in token[:MOST_CLASS_ANSWER]) or "?"


def host_class(module: str, name: str) -> None:
    """Speak the engine protocol for a class of the user's; runs in a process of its own.

    What the class prints goes to standard error, and it has no standard input: both belong to
    the protocol.

    Args:
        module: it is imported, from the current directory too.
        name: of the class; it is called without arguments.
    """
    from importlib import import_module

    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    player = getattr(import_module(module), name)()
    serve(ClassBrain(player, f"{module}:{name}"), incoming, outgoing)
