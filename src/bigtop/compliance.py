"""Checks, step by step, whether a program speaks the engine protocol of `docs/PROTOCOL.md`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bigtop.core.rng import Rng
from bigtop.core.state import deal
from bigtop.notation import IllegalMoveError, NotationError, Position
from bigtop.players import LIMITS, Clock, Limits, PlayerFailure, Program, shown_to
from bigtop.protocol import VERSION, OptionLine, go_line, one_line, parse_info, parse_option

__all__ = ["Step", "check_program"]

SMALL: Final = Clock(sims=20)
"""The budget where it does not matter."""
SHORT: Final = Clock(seconds=0.2)
LONG: Final = Clock(seconds=2.0)
"""For the step that stops the search; an engine may use it up."""
SEED: Final = 7

SITUATIONS: Final = (
    # what it is, and the position as the seat to act sees it
    (
        "three players, no active set",
        "x12/64.81.31.52.91.28.73.94.79.21.27.85/x12 - 1 012 0+0/0+0/0+0 -",
    ),
    (
        "three players, only a Scout",
        "x3.54.x4/16.53.65.51.72.31.42.36.98.69.75.41.12/x3.85.x5.43.x 86.76@0 1 - "
        "1+4/0+1/1+2 19.78",
    ),
    (
        "four players, no Show without a Scout",
        "x.52.29.x6/x4.56.78.x.T7.x2/16.2T.18.84.31.54.12/x7.67.26.x.91.x.4T.x 41.57@1 2 2 "
        "0+3/1+2/0+4/1+1 27.68",
    ),
    (
        "one card in the hand",
        "97/x.32.x.83.17.8T.45.92.56.5T.41.x.67.25.x3/T7.46.x.26.19.12/24.37.93.72.x.81.x "
        "4T.47@3 0 - 3+13/2+6/4+11/2+8 13.15.1T.34.35.36.49.58.59.69.78",
    ),
    (
        "five players, in a game, cards of others known",
        "78.x3.67.74.x.36.x2.96/64.T8.7T.84.6T.85/x.37.24.x2.4T.81.x3.97.x2/x2.91.x2/57.x4 "
        "T2@0 1 1 1+2/0+4/0+1/0+2/3+5 12.1T.23.68 3:5/-2/0/11/4",
    ),
    (
        "four players, with the moves since the deal",
        "x11/x11/x11/14.84.34.5T.74.76.83.58.97.61.93 - 0f0 0123 0+0/0+0/0+0/0+0 - moves "
        "flip keep flip flip S7:T1 L6+S2:T8 L12+S1:65 L6+S3 L4 S7:46 L6~",
    ),
    (
        "two players, Show, Scout or pass",
        "52.45.12.26.91.36.T1.72.28.24/x.69.x9 15@1 0 - 0+2/0+1 -",
    ),
    (
        "two players, only pass",
        "16.x7/79.49.95.17.84.65.92.39.74.91.43 98@0 1 - 1+1/1+0 15.2T",
    ),
    (
        "two players, pass not allowed",
        "x6/98.71.T8.79.53.91.15.47.T4.85.32 46.31@0 1 f 2+3/1+1 29.5T.68",
    ),
    (
        "two players, forced pass",
        "52.45.12.26.51.T2.36.72/x.31.x4.69.x 95.T7@1 0 f 1+0/3+0 19.1T.24.28",
    ),
    (
        "two players, the set scouted away",
        "x10/15.T8.69.T3.T2.T6.94.46.95.T7.13.86 - 1 - 0+2/0+1 -",
    ),
)
"""Positions in which engines go wrong."""


@dataclass(frozen=True)
class Step:
    """One check, done."""

    name: str
    expected: str
    """What the protocol asks for."""
    ok: bool
    found: str
    """What the program did instead; for a passed step what is worth knowing, if anything."""


class _Wrong(Exception):
    """The program did something else than was expected."""


class _Checker:
    def __init__(self, command: Sequence[str], limits: Limits) -> None:
        self.command = command
        self.limits = limits
        self.program: Program | None = None
        self.name = ""
        self.options: dict[str, OptionLine] = {}
        self.odd_option = ""  # the first one that is not written as it should be
        self.odd_info = ""

    # Speaking to it

    def running(self) -> Program:
        """The program, started and identified; after a failure it is started again."""
        if self.program is not None and self.program.ended:
            self.kill()
        if self.program is None:
            self.greet()
        assert self.program is not None
        return self.program

    def kill(self) -> None:
        if self.program is not None:
            self.program.kill()
            self.program = None

    def greet(self) -> None:
        self.program = program = Program(self.command, self.limits)
        deadline = time.monotonic() + self.limits.handshake
        program.send(f"bep {VERSION}")
        self.name = ""
        self.options = {}
        self.odd_option = ""
        while True:
            line = program.receive(deadline, f"bepok within {self.limits.handshake:g} s")
            word, _, rest = line.partition(" ")
            if word == "bepok":
                break
            if line.startswith("id name "):
                self.name = one_line(line.removeprefix("id name "))
            elif word == "option":
                try:
                    option = parse_option(line)
                except ValueError as wrong:
                    self.odd_option = self.odd_option or f"{wrong}: {line!r}"
                else:
                    self.options[option.name] = option
        if rest != str(VERSION):
            raise _Wrong(f"got {line!r}")

    def wait(self, wanted: str, seconds: float) -> str:
        """What follows the word wanted; notes `info` lines that cannot be read."""
        program = self.running()
        deadline = time.monotonic() + seconds
        while True:
            line = program.receive(deadline, f"{wanted} within {seconds:g} s")
            word, _, rest = line.partition(" ")
            if word == wanted:
                return rest.strip()
            if word not in ("info", ""):
                raise _Wrong(f"got {line!r}")
            if word == "info":
                try:
                    parse_info(line)
                except ValueError as wrong:
                    self.odd_info = self.odd_info or f"{wrong}: {line!r}"

    def ready(self, *lines: str) -> None:
        """Send lines and wait until they have been read."""
        self.running().send(*lines, "isready")
        self.wait("readyok", self.limits.handshake)

    def ask(self, position: Position, clock: Clock = SMALL, seed: int | None = SEED) -> str:
        """The legal token that it answers for the acting seat, in the round that it plays."""
        self.show(position)
        self.running().send(go_line(clock, seed))
        return self.answer(position, clock)

    def begin(self, text: str) -> Position:
        """Begin another round, with this position."""
        self.ready("newround")
        return Position.parse(text)

    def show(self, position: Position) -> None:
        shown = shown_to(position)
        self.ready(f"position {shown.history}", f"now {shown}")

    def answer(self, position: Position, clock: Clock) -> str:
        if clock.seconds is None:
            token = self.wait("bestmove", self.limits.untimed)
        else:
            token = self.wait("bestmove", clock.seconds + self.limits.grace)
        if len(token.split()) != 1:
            raise _Wrong(f"got 'bestmove {token[:80]}'")
        shown = shown_to(position)
        try:
            return shown.token(shown.code(token))
        except (NotationError, IllegalMoveError) as wrong:
            raise _Wrong(str(wrong)) from None

    # The steps; each raises or returns what is worth knowing

    def identify(self) -> str:
        self.kill()
        self.greet()
        return ""

    def has_name(self) -> str:
        self.running()
        if not self.name:
            raise _Wrong("there was no such line, or no name in it")
        return self.name

    def options_readable(self) -> str:
        self.running()
        if self.odd_option:
            raise _Wrong(self.odd_option)
        return ", ".join(self.options) or "none offered"

    def says_ready(self) -> str:
        self.ready()
        return ""

    def takes_options(self) -> str:
        values = {"threads": "1", "memory": "64"}
        offered = [name for name in values if name in self.options]
        self.ready(*(f"setoption name {name} value {values[name]}" for name in offered))
        return "" if offered else "neither offered"

    def takes_round(self) -> str:
        self.ready("newround")
        return ""

    def chooses_flip(self) -> str:
        for players in (2, 3, 4, 5):
            position = Position.from_round(deal(players, Rng(SEED)))
            for _ in range(players):
                self.ready("newround")
                position = position.play(self.ask(position))
        return ""

    def answers(self, text: str) -> Callable[[], str]:
        def step() -> str:
            return self.ask(self.begin(text))

        return step

    def plays_round(self, players: int) -> Callable[[], str]:
        def step() -> str:
            self.ready("newround")
            seat = players // 2
            position = Position.from_round(deal(players, Rng(SEED)))
            others = Rng(SEED).split(players)
            asked = 0
            while not position.is_over:
                if position.turn == seat:
                    position = position.play(self.ask(position, SMALL, asked))
                    asked += 1
                else:
                    position = position.play_code(position.round.random_move(others))
            return f"{asked} answers, ended {position.end}"

        return step

    def answers_once(self) -> str:
        self.ask(self.begin(SITUATIONS[0][1]))
        self.ready()
        return ""

    def keeps_time(self) -> str:
        began = time.monotonic()
        self.ask(self.begin(SITUATIONS[0][1]), SHORT)
        return f"{time.monotonic() - began:.2f} s"

    def has_own_budget(self) -> str:
        began = time.monotonic()
        self.ask(self.begin(SITUATIONS[0][1]), Clock(), None)
        return f"{time.monotonic() - began:.2f} s"

    def stops(self) -> str:
        position = self.begin(SITUATIONS[0][1])
        self.show(position)
        began = time.monotonic()
        self.running().send(go_line(LONG, SEED), "stop")
        self.answer(position, LONG)
        seconds = time.monotonic() - began
        self.ready()
        return f"answered after {seconds:.2f} s"

    def ignores_idle_stop(self) -> str:
        self.ready("stop")
        return ""

    def ignores_unknown(self) -> str:
        self.ready("", "xyzzy 1 2", "setoption name xyzzy value 1")
        position = self.begin(SITUATIONS[0][1])
        self.show(position)
        self.running().send("go xyzzy 1 sims 20")
        self.answer(position, SMALL)
        return ""

    def infos_readable(self) -> str:
        if self.odd_info:
            raise _Wrong(self.odd_info)
        return ""

    def ends(self, *farewell: str) -> Callable[[], str]:
        def step() -> str:
            program = self.running()
            program.close(*farewell)
            self.program = None
            if program.status != 0:
                status = program.status
                raise _Wrong(
                    f"it had to be killed after {self.limits.close:g} s"
                    if status == -9
                    else f"it ended with status {status}"
                )
            return ""

        return step

    def steps(self) -> Iterator[tuple[str, str, Callable[[], str]]]:
        handshake = f"{self.limits.handshake:g} s"
        yield (
            "identify",
            f"'bepok {VERSION}' within {handshake} after 'bep {VERSION}'",
            self.identify,
        )
        yield "name", "a line 'id name NAME' before bepok", self.has_name
        yield "options", "'option name NAME type TYPE default VALUE ...'", self.options_readable
        yield "isready", f"'readyok' within {handshake}", self.says_ready
        yield "setoption", "threads and memory can be set if they are offered", self.takes_options
        yield "newround", "no answer, and ready after it", self.takes_round
        yield "flip phase", "'bestmove keep' or 'bestmove flip', 2 to 5 players", self.chooses_flip
        for name, text in SITUATIONS:
            yield name, "a legal bestmove", self.answers(text)
        for players in (2, 3, 4, 5):
            yield f"a round, {players} players", "legal moves only", self.plays_round(players)
        yield "one answer", "nothing but info between bestmove and the next go", self.answers_once
        within = f"{SHORT.seconds:g} s + {self.limits.grace:g} s"
        yield "time", f"an answer to '{go_line(SHORT)}' within {within}", self.keeps_time
        yield "own budget", "an answer to 'go' alone", self.has_own_budget
        yield (
            "stop",
            f"one answer to '{go_line(LONG)}' and 'stop', at the latest in time",
            self.stops,
        )
        yield "stop when idle", "no answer", self.ignores_idle_stop
        yield "unknown words", "ignored, nothing but info said", self.ignores_unknown
        yield (
            "info",
            "'info NAME VALUE ... [pv MOVE ...]' or 'info string TEXT'",
            self.infos_readable,
        )
        yield "quit", f"ends with status 0 within {self.limits.close:g} s", self.ends("quit")
        yield "end of input", f"ends with status 0 within {self.limits.close:g} s", self.ends()


def check_program(command: Sequence[str], limits: Limits = LIMITS) -> Iterator[Step]:
    """Check a program; yields each step when it is done.

    When it does not even identify itself, that is the only step.

    Args:
        command: the program and its arguments.
        limits: how long it is waited for, and how much is read.
    """
    checker = _Checker(command, limits)
    try:
        for name, expected, check in checker.steps():
            try:
                step = Step(name, expected, True, check())
            except (_Wrong, PlayerFailure) as wrong:
                # What it still has to say must not be taken for an answer to the next step.
                checker.kill()
                step = Step(name, expected, False, one_line(str(wrong)))
            yield step
            if name == "identify" and not step.ok:
                return
    finally:
        checker.kill()
