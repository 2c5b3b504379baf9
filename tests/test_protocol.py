"""The engine protocol: its description, the engine's side, and the check of other engines."""

from __future__ import annotations

import json
import math
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bigtop import compliance, players, protocol
from bigtop.cli.main import bigtop as command
from bigtop.compliance import SITUATIONS, Step, check_program
from bigtop.core.rng import Rng
from bigtop.core.state import deal
from bigtop.engines import Engine, make_engine
from bigtop.notation import Position
from bigtop.players import Clock, Limits, Program, make_player
from bigtop.protocol import OptionLine, go_line, parse_info, parse_option

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "engine.py"
TEXT = (ROOT / "docs" / "PROTOCOL.md").read_text("utf-8")
BIGTOP = [sys.executable, "-c", "from bigtop.cli.main import main; main()"]
PATIENT = Limits(handshake=60, grace=60, untimed=60, close=60)

TWO = "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
FLIP = "x11/37.2T.19.45.58.6T.74.83.92.T3.15/x11/x11 - 1f2 0123 0+0/0+0/0+0/0+0 -"
HIDDEN = "x11/37.2T.19.45.58.6T.74.83.92.T3.15/x11/x11 - 0 0123 0+0/0+0/0+0/0+0 -"
STEPS = 20 + len(SITUATIONS)
OVER = "-/37.21 45@0 1 - 17+3/2+0 -"


class Talk:
    """A conversation with a program."""

    def __init__(self, *words: str, limits: Limits = PATIENT) -> None:
        self.program = Program(words, limits)

    def say(self, *lines: str) -> None:
        self.program.send(*lines)

    def hear(self) -> str:
        return self.program.receive(time.monotonic() + 60, "a line")

    def until(self, word: str) -> list[str]:
        """The lines until one that begins with this word, that one included."""
        lines = [self.hear()]
        while lines[-1].split()[:1] != [word]:
            lines.append(self.hear())
        return lines

    def ask(self, *lines: str) -> list[str]:
        """What is said to these lines; `isready` finds out when that is all."""
        self.say(*lines, "isready")
        return self.until("readyok")[:-1]

    def silent(self) -> None:
        assert self.ask() == []


def engine(spec: str, *options: str) -> Talk:
    return Talk(*BIGTOP, "engine", "--engine", spec, *options)


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, Talk]]:
    """Engines that were started before, by spec."""
    talks: dict[str, Talk] = {}
    yield talks
    for talk in talks.values():
        talk.program.close("quit")
        assert talk.program.status == 0


def shared(engines: dict[str, Talk], spec: str) -> Talk:
    """An engine that tests share; it must have nothing left to say, and knows no position."""
    if spec not in engines:
        engines[spec] = engine(spec)
    assert engines[spec].ask("newround") == []
    return engines[spec]


@pytest.fixture
def planner(engines: dict[str, Talk]) -> Talk:
    return shared(engines, "planner")


@pytest.fixture
def ismcts(engines: dict[str, Talk]) -> Talk:
    return shared(engines, "ismcts:sims=50")


def bestmove(talk: Talk) -> str:
    return talk.until("bestmove")[-1].removeprefix("bestmove ")


# The description --------------------------------------------------------------------------------


def block(before: str) -> str:
    """The fenced block of the description after this text."""
    found = re.search(re.escape(before) + r".*?```\w*\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_conversation_is_what_the_example_says() -> None:
    lines = block("<!-- conversation -->").splitlines()
    assert len(lines) > 15
    talk = Talk(sys.executable, str(EXAMPLE))
    for line in lines:
        if line.startswith("> "):
            talk.say(line.removeprefix("> "))
        else:
            assert f"< {talk.hear()}" == line
    talk.program.close()
    assert talk.program.status == 0


def test_the_conversation_is_what_the_host_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host with that deal and that seed writes exactly the lines of the description."""
    lines = block("<!-- conversation -->").splitlines()
    said: list[str] = []
    send = Program.send

    def overheard(self: Program, *words: str) -> None:
        said.extend(f"> {word}" for word in words)
        send(self, *words)

    monkeypatch.setattr(Program, "send", overheard)
    spec = f"cmd:{shlex.join([sys.executable, str(EXAMPLE)])}"
    position = Position.from_round(deal(3, Rng(4)))
    with make_player(spec, 1, Clock(sims=1000), limits=PATIENT) as player:
        player.new_round(5)
        position = position.play("flip")
        position = position.play("flip" if player.flip(position) else "keep")
        position = position.play("keep").play("S11")
        player.choose(position, player.clock)
    assert said == [line for line in lines if line.startswith("> ")]


def test_the_limits_are_those_of_the_description() -> None:
    assert f"# The engine protocol, version {protocol.VERSION}\n" in TEXT
    assert f"has {players.HANDSHAKE_SECONDS:g} seconds from its start to `bepok`" in TEXT
    assert f"more than {players.GRACE_SECONDS:g} second after that" in TEXT
    assert f"within\n  {players.UNTIMED_SECONDS:g} seconds" in TEXT
    assert f"After `quit` it has {players.CLOSE_SECONDS:g} second to end" in TEXT
    assert f"longer than {players.LINE_LIMIT:,} bytes" in TEXT
    assert f"at most {players.OUTPUT_LIMIT:,} bytes" in TEXT
    reasons = re.findall(r"^\| `([a-z ]+)` \| .* \|$", TEXT.split("## What loses")[1], re.MULTILINE)
    assert reasons[: len(players.REASONS)] == list(players.REASONS)


def test_the_positions_and_info_lines_of_the_description_can_be_read() -> None:
    lines = block("Six fields").splitlines()
    assert str(Position.parse(lines[1])) == lines[1]
    for line in block("**`info`.**").splitlines():
        assert len(parse_info(line)) > 1


def test_the_class_of_the_description_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(block("plays a class."), "utf-8")
    monkeypatch.chdir(tmp_path)
    position = Position.from_round(deal(2, Rng(1)))
    with make_player("python:mine:First", 1, limits=PATIENT) as player:
        while not position.is_over:
            if position.flipping:
                token = "flip" if player.flip(position) else "keep"
            else:
                token = player.choose(position, player.clock)
                assert token == position.legal_moves()[0]
            position = position.play(token)


# `bigtop engine` --------------------------------------------------------------------------------


def test_an_engine_identifies_itself(planner: Talk) -> None:
    planner.say("bep 1")
    lines = planner.until("bepok")
    assert lines[0] == "id name Bigtop planner"
    assert lines[1].startswith("id author ")
    assert lines[-1] == "bepok 1"
    options = [parse_option(line) for line in lines[2:-1]]
    assert [option.name for option in options] == ["threads", "memory", "scout"]
    assert [str(option) for option in options] == lines[2:-1]
    planner.say("bep 7")
    assert planner.until("bepok")[-1] == "bepok 1"
    for wrong in ("bep", "bep 0", "bep one", "bep 1 2"):
        (line,) = planner.ask(wrong)
        assert line.startswith("error ")


@pytest.mark.parametrize("spec", ["random", "greedy", "planner", "flat:sims=99", "ismcts:sims=99"])
@pytest.mark.parametrize("text", [TWO, FLIP, TWO + " moves L1~"])
def test_an_answer_is_that_of_the_engine(spec: str, text: str, engines: dict[str, Talk]) -> None:
    talk = shared(engines, spec)
    found = make_engine(spec).answer(Position.parse(text), 12345)
    for _ in range(2):  # nothing is kept from the first time
        talk.say("newround", f"position {text}", f"now {Position.parse(text)}", "go seed 12345")
        *infos, answer = talk.until("bestmove")
        assert answer == f"bestmove {found.move}"
    heard = [parse_info(line) for line in infos]
    told = [line for line in heard if "move" in line]
    assert [line["move"] for line in told] == [line.move for line in found.lines[:5]]
    assert [line["rank"] for line in told] == [str(n + 1) for n in range(len(told))]
    for line, known in zip(told, found.lines, strict=False):
        assert line["pv"] == " ".join(known.pv)
        assert int(line["visits"]) == known.visits
        for name in ("points", "points_se", "margin", "margin_se", "win", "value"):
            number = getattr(known, name)
            if number is None or not math.isfinite(number):
                assert name not in line
            else:
                assert float(line[name]) == pytest.approx(number, rel=1e-5)
    assert [line["sims"] for line in heard if "sims" in line] == [str(found.sims)] * bool(
        found.sims
    )


def test_the_budget_of_go_replaces_the_engine_s(ismcts: Talk) -> None:
    ismcts.say(f"position {TWO}", "go sims 300 seed 1")
    assert "info sims 300 " in ismcts.until("bestmove")[0]
    ismcts.say("go seed 1")
    assert "info sims 50 " in ismcts.until("bestmove")[0]
    ismcts.say("go time 0.05 seed 1")
    heard = ismcts.until("bestmove")[0]
    assert "info sims " in heard
    assert "info sims 50 " not in heard, "a search by the clock goes on by 16 at a time"


def test_a_seed_that_was_not_given_is_told(ismcts: Talk) -> None:
    ismcts.say(f"position {TWO}", "go")
    first, *_, answer = ismcts.until("bestmove")
    seed = parse_info(first)["seed"]
    ismcts.say(f"go seed {seed}")
    assert ismcts.until("bestmove")[-1] == answer
    ismcts.say("go")
    assert parse_info(ismcts.until("bestmove")[0])["seed"] != seed


def test_what_is_not_known_is_ignored(planner: Talk) -> None:
    lines = planner.ask("xyzzy 1", "setoption name xyzzy value 1", "", "   ", "now nothing", "stop")
    assert [line.startswith("info string unknown ") for line in lines] == [True, True]
    planner.say(f"position {TWO}", "go xyzzy 1 sims 5 plugh 2")
    assert bestmove(planner) in Position.parse(TWO).legal_moves()
    planner.silent()


def test_white_space_and_carriage_returns_do_no_harm(planner: Talk) -> None:
    planner.say(f"  position \t {TWO}  \r", " go  sims   5 \r")
    assert bestmove(planner) in Position.parse(TWO).legal_moves()
    planner.silent()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["go"], "expected a position before go"),
        ([f"position {TWO}", "newround", "go"], "expected a position before go"),
        (["position"], "expected a position of 6 fields"),
        (["position x11"], "expected 6 fields"),
        ([f"position {TWO} moves"], "expected at least one move after the word moves"),
        ([f"position {TWO} moves S9"], "illegal move 'S9' (move 1)"),
        ([f"position {OVER}", "go"], "the round is over"),
        ([f"position {HIDDEN}", "go"], "expected a known hand of seat 0"),
        ([f"position {TWO}", "go sims"], "expected a value after 'sims'"),
        ([f"position {TWO}", "go sims 0"], "expected a whole number from 1 after sims: '0'"),
        ([f"position {TWO}", "go sims 1.5"], "expected a whole number from 1 after sims: '1.5'"),
        ([f"position {TWO}", "go time 0"], "expected seconds such as 0.5 after time: '0'"),
        ([f"position {TWO}", "go time -1"], "expected seconds such as 0.5 after time: '-1'"),
        ([f"position {TWO}", "go sims 1 time 1"], "expected one budget, sims or seconds"),
        ([f"position {TWO}", "go sims 1 sims 1"], "expected sims once"),
        ([f"position {TWO}", f"go seed {2**64}"], "expected a number from 0 to 2^64-1 after seed"),
        (["setoption name threads value 0"], "expected a whole number from 1 to 256 for threads"),
        (["setoption name threads value x"], "expected a whole number from 1 to 256 for threads"),
        (["setoption name scout value x"], "expected a decimal number, as in 1.5 for scout: 'x'"),
        (["setoption threads 1"], "expected 'setoption name NAME value VALUE'"),
        (["position \x1b[31m é".encode().decode("latin-1")], "expected 6 fields"),
    ],
)
def test_what_cannot_be_done_is_an_error_and_no_end(
    planner: Talk, lines: list[str], said: str
) -> None:
    if not all(line.isascii() for line in lines):
        lines = [ascii(line)[1:-1] for line in lines]
    planner.say(*lines)
    heard = planner.until("error")
    assert all(line.startswith("info seed ") for line in heard[:-1])
    assert said in heard[-1]
    assert all(line.isprintable() for line in heard)
    planner.say(f"position {TWO}", "go sims 5 seed 1")
    assert bestmove(planner) in Position.parse(TWO).legal_moves()


def test_bytes_that_are_no_text_are_no_end(planner: Talk) -> None:
    planner.program._outbox += b"\xff\xfe\x00 1\nposition \xc3\xa9\n"
    first, second = planner.ask()
    assert first.startswith("info string unknown command")
    assert second.startswith("error expected ")


def test_a_command_without_end_is_refused_and_the_next_one_obeyed(planner: Talk) -> None:
    heard = planner.ask("position " + "x" * 5_000_000)
    assert heard == [f"error a command of more than {protocol.COMMAND_LIMIT} bytes is not read"]


def test_a_last_command_without_its_end_is_obeyed() -> None:
    talk = engine("planner")
    talk.program._outbox += b"bep 1"
    talk.program.close()
    assert talk.program.status == 0
    talk = Talk(*("sh", "-c", f"printf 'bep 1' | {shlex.join(BIGTOP)} engine --engine planner"))
    assert talk.until("bepok")[-1] == "bepok 1"
    talk.program.close()


def test_options_change_what_is_played() -> None:
    ismcts = engine("ismcts:sims=50")
    ismcts.say("setoption name explore value 3", "setoption name trees value 1", "bep 1")
    assert "id name Bigtop ismcts:sims=50,trees=1,explore=3" in ismcts.until("bepok")
    ismcts.say("setoption name threads value 2", f"position {TWO}", "go sims 400 seed 6")
    found = make_engine("ismcts:sims=400,trees=1,explore=3").answer(Position.parse(TWO), 6)
    assert f"visits {found.lines[0].visits} " in ismcts.until("bestmove")[1]
    ismcts.program.close("quit")


def test_threads_and_memory_of_the_command_line_are_the_defaults() -> None:
    talk = engine("planner", "--threads", "2", "--memory", "64")
    talk.say("bep 1")
    lines = talk.until("bepok")
    assert "option name threads type spin default 2 min 1 max 256" in lines
    assert any(line.startswith("option name memory type spin default 64 ") for line in lines)
    talk.program.close("quit")


def test_too_little_memory_is_an_error() -> None:
    ismcts = engine("ismcts:sims=50")
    lines = ["setoption name memory value 1", "setoption name trees value 200"]
    ismcts.say(*lines, f"position {TWO}", "go sims 5 seed 1")
    assert "at least 1 MB" in ismcts.until("error")[-1]
    ismcts.program.close("quit")


def test_more_memory_than_there_is_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ended by it, although the value is one that was offered."""

    def search(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Engine, "answer", search)
    brain = protocol.EngineBrain(make_engine("ismcts"), memory=1 << 20)
    with pytest.raises(protocol.Refusal, match="no room for a search in 1048576 MB"):
        brain.answer(Position.parse(TWO), Clock(), 1, threading.Event(), print)


def test_it_is_ready_while_it_searches_and_stops(ismcts: Talk) -> None:
    ismcts.say(f"position {TWO}", "go time 0.5 seed 1", "isready")
    assert ismcts.hear() == "readyok"
    ismcts.say("stop")
    assert bestmove(ismcts) in Position.parse(TWO).legal_moves()
    ismcts.silent()
    assert ismcts.ask("stop") == []


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("budget", ["sims 999999999999", "time 1000"])
@pytest.mark.parametrize("spec", ["flat", "ismcts"])
def test_a_search_without_end_can_be_stopped(spec: str, budget: str, threads: str) -> None:
    talk = engine(spec, "--threads", threads)
    for text in (TWO, FLIP):
        talk.say(f"position {text}", f"go {budget} seed 1", "stop")
        assert bestmove(talk) in Position.parse(text).legal_moves()
        talk.silent()
    talk.program.close("quit")
    assert talk.program.status == 0


def test_commands_that_come_too_early_are_obeyed_in_order(ismcts: Talk) -> None:
    ismcts.say(f"position {TWO}", "go sims 2000 seed 1", f"position {FLIP}", "go seed 1")
    assert bestmove(ismcts) in Position.parse(TWO).legal_moves()
    assert bestmove(ismcts) in ("keep", "flip")
    ismcts.silent()


@pytest.mark.parametrize("farewell", [["quit"], []])
@pytest.mark.parametrize("spec", ["ismcts", "flat"])
def test_a_search_does_not_outlive_the_host(spec: str, farewell: list[str]) -> None:
    talk = engine(spec)
    talk.say(f"position {TWO}", "go time 1000 seed 1", "isready")
    assert talk.hear() == "readyok"
    talk.program.close(*farewell)
    assert talk.program.status == 0


def test_a_host_that_reads_no_more_is_the_end() -> None:
    with subprocess.Popen(
        [*BIGTOP, "engine", "--engine", "planner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"bep 1\n")
        process.stdin.flush()  # and it stays open
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""


def test_an_interrupt_is_the_end() -> None:
    with subprocess.Popen(
        [*BIGTOP, "engine", "--engine", "planner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Tests that run in the background of a shell inherit that interrupts are ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"isready\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"readyok\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read().strip() == b""


def test_the_budget_of_the_command_line_is_the_default() -> None:
    talk = engine("ismcts", "--sims", "30")
    talk.say(f"position {TWO}", "go seed 1")
    assert "info sims 30 " in talk.until("bestmove")[0]
    talk.program.close("quit")


@pytest.mark.parametrize(
    "options",
    [
        "nobody",
        "python:a:B",
        "cmd:x",
        "ismcts:sims=0",
        "planner --sims 5",
        "flat --sims 5 --time 1",
    ],
)
def test_an_engine_that_does_not_exist_is_bad_input(options: str) -> None:
    words = ["engine", "--engine", *options.split()]
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1


# Lines ------------------------------------------------------------------------------------------


def test_the_line_that_asks_for_a_move() -> None:
    assert go_line(Clock()) == "go"
    assert go_line(Clock(sims=20), 3) == "go sims 20 seed 3"
    assert go_line(Clock(seconds=0.25)) == "go time 0.25"
    assert go_line(Clock(seconds=10), 0) == "go time 10 seed 0"
    assert go_line(Clock(seconds=1e-6)) == "go time 0.000001"
    assert go_line(Clock(seconds=1e-9)) == "go time 0.000001"
    assert go_line(Clock(seconds=1 / 3)) == "go time 0.333333"


@pytest.mark.parametrize(
    "option",
    [
        OptionLine("threads", "spin", "1", 1, 256),
        OptionLine("explore", "string", "1.5"),
        OptionLine("book", "check", "true"),
        OptionLine("style", "combo", "calm", choices=("calm", "wild")),
        OptionLine("offset", "spin", "-3", -5),
    ],
)
def test_option_lines_are_read_as_they_are_written(option: OptionLine) -> None:
    assert parse_option(str(option)) == option


@pytest.mark.parametrize(
    "line",
    [
        "option",
        "option name threads",
        "option name threads type spin",
        "option threads type spin default 1",
        "option name a b type spin default 1",
        "option name threads type button default 1",
        "option name threads type spin default one",
        "option name threads type spin default 1 min one",
        "option name threads type spin default 1 min",
        "option name book type check default yes",
        "option name style type combo default calm var wild",
    ],
)
def test_option_lines_that_are_none(line: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_option(line)


def test_info_lines() -> None:
    assert parse_info("info") == {}
    assert parse_info("info depth 3 points -1.5 pv S1 L2 S3") == {
        "depth": "3",
        "points": "-1.5",
        "pv": "S1 L2 S3",
    }
    assert parse_info("info string points are many") == {"string": "points are many"}
    for line in ("info points", "info points many", "info points nan", "info visits 0x1", "inf"):
        with pytest.raises(ValueError, match="expected"):
            parse_info(line)


# Compliance -------------------------------------------------------------------------------------


def test_the_situations_are_what_they_are_called() -> None:
    for name, text in SITUATIONS:
        position = Position.parse(text)
        assert position.history == text
        assert position.viewer == position.turn
        moves = position.legal_moves()
        kinds = {"S&S" if "+" in move else move[0] for move in moves}
        numbers = {2: "two", 3: "three", 4: "four", 5: "five"}
        if "players" in name:
            assert name.startswith(f"{numbers[position.players]} players")
        if "only a Scout" in name or "not allowed" in name:
            assert kinds <= {"L", "R"}
        if "no Show without" in name:
            assert "S&S" in kinds
            assert "S" not in kinds
        if "no active set" in name or "scouted away" in name:
            assert kinds == {"S"}
        if "only pass" in name or "forced pass" in name:
            assert moves == ["pass"]
        if "Scout or pass" in name:
            assert kinds >= {"S", "L", "p"}
        if "one card" in name:
            assert len(position.round.hand(position.turn)) == 1
        assert ("in a game" in name) == (position.game is not None)
        assert ("moves since" in name) == (" moves " in text)
    assert len({name for name, _ in SITUATIONS}) == len(SITUATIONS) > 8


def bad(steps: list[Step]) -> list[str]:
    return [step.name for step in steps if not step.ok]


@pytest.mark.parametrize("spec", ["example", "random", "ismcts:sims=30"])
def test_good_engines_comply(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "LONG", Clock(seconds=0.3))
    words = [*BIGTOP, "engine", "--engine", spec]
    if spec == "example":
        words = [sys.executable, str(EXAMPLE)]
    steps = list(check_program(words, PATIENT))
    assert [(step.name, step.found) for step in steps if not step.ok] == []
    assert len(steps) == STEPS
    assert len({step.name for step in steps}) == len(steps)


def faulty(old: str, new: str) -> list[str]:
    """The example engine with a fault."""
    source = EXAMPLE.read_text("utf-8")
    assert old in source
    return [sys.executable, "-c", source.replace(old, new)]


QUICK = Limits(handshake=60, grace=0.2, untimed=0.2, close=60)


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        ("id name Strongest set\\n", "", ["name"]),
        ("bepok 1", "option threads\\nbepok 1", ["options"]),
        ('        return "keep"', '        return "S1"', ["flip phase"]),
        ('else "L1"', 'else "L99"', ["illegal"]),
        (' == "0" else', ' == "9" else', ["two players, only pass", "two players, forced pass"]),
        (
            'print("bestmove", choose(position), flush=True)',
            'print("info points many\\nbestmove", choose(position), flush=True)',
            ["info"],
        ),
        (
            'print("bestmove", choose(position), flush=True)',
            'print(f"bestmove {choose(position)}\\nbestmove S1", flush=True)',
            ["one answer"],
        ),
        (
            'print("bestmove", choose(position), flush=True)',
            'if "time" not in rest:\n            print("bestmove", choose(position), flush=True)',
            ["time", "stop"],
        ),
        (
            'print("bestmove", choose(position), flush=True)',
            'if rest:\n            print("bestmove", choose(position), flush=True)',
            ["own budget"],
        ),
        (
            '    elif word == "quit":\n        break',
            '    elif word == "stop":\n        print("bestmove", choose(position), flush=True)',
            ["stop", "stop when idle"],
        ),
        (
            '    elif word == "quit":\n        break',
            '    elif word == "quit":\n        raise SystemExit(3)',
            ["quit"],
        ),
        (
            '    elif word == "quit":\n        break',
            '    elif word == "quit":\n        break\n    elif word not in ("newround", "position",'
            ' "stop", ""):\n        print("what?", flush=True)',
            ["unknown words"],
        ),
        (
            '    elif word == "newround":',
            '    elif word == "newround":\n        print("bestmove S1")',
            ["newround"],
        ),
    ],
)  # fmt: skip
def test_faults_are_found(
    old: str, new: str, failed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compliance, "LONG", Clock(seconds=0.3))
    if old not in EXAMPLE.read_text("utf-8"):
        assert "newround" in old
        new = f'{new}\n    elif word == "go":'
        old = '    elif word == "go":'
    steps = list(check_program(faulty(old, new), QUICK))
    found = bad(steps)
    if failed == ["illegal"]:
        assert "three players, only a Scout" in found
        assert any(name.startswith("a round, ") for name in found)
    else:
        assert [name for name in failed if name in found] == failed
    assert len(steps) == STEPS  # the others are checked all the same
    assert all(step.found and step.found.isprintable() for step in steps if not step.ok)


def test_an_engine_that_does_not_quit_is_found_out() -> None:
    program = faulty('    elif word == "quit":\n        break', "    elif False:\n        break")
    program[-1] += "import time\ntime.sleep(1000)\n"
    steps = list(check_program(program, Limits(handshake=60, close=0.1)))
    assert bad(steps) == ["quit", "end of input"]
    assert "had to be killed" in steps[-1].found


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["/nowhere/engine"], "crashed: it cannot be started: No such file"),
        ([sys.executable, "-c", "raise SystemExit('no licence')"], "it said: no licence"),
        ([sys.executable, "-c", "print('bepok 2', flush=True); input(); input()"], "'bepok 2'"),
        ([sys.executable, "-c", "while True: print('hello')"], "flooded: more than "),
    ],
)
def test_an_engine_that_does_not_identify_itself_is_checked_no_further(
    words: list[str], said: str
) -> None:
    (step,) = check_program(words, PATIENT)
    assert (step.name, step.ok) == ("identify", False)
    assert said in step.found


def check(*words: str) -> Result:
    return CliRunner().invoke(command, ["compliance", *words], catch_exceptions=False)


def test_the_command_prints_each_step() -> None:
    result = check(sys.executable, str(EXAMPLE))
    assert result.exit_code == 0
    *lines, last = result.stdout.splitlines()
    assert all(line.startswith("ok      ") for line in lines)
    assert last == f"{len(lines)} steps, none failed"
    assert result.stderr == ""


def test_the_command_takes_one_word_or_several_and_leaves_options_to_the_program() -> None:
    words = shlex.join([sys.executable, str(EXAMPLE), "--json", "--help"])
    for given in ([words], [f"cmd:{words}"], shlex.split(words)):
        answer = json.loads(check("--json", *given).stdout)
        assert answer["command"] == shlex.split(words)


def test_the_command_tells_what_was_expected_and_what_was_found() -> None:
    words = faulty("id name Strongest set\\n", "")
    result = check("--json", *words)
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert list(answer) == ["command", "protocol", "passed", "failed", "steps"]
    assert (answer["failed"], answer["passed"]) == (1, STEPS - 1)
    (step,) = [step for step in answer["steps"] if not step["ok"]]
    assert step == {
        "step": "name",
        "expected": "a line 'id name NAME' before bepok",
        "ok": False,
        "found": "there was no such line, or no name in it",
    }
    result = check(*words)
    assert result.exit_code == 1
    assert "\nFAILED  name: a line 'id name NAME' before bepok\n        there was" in result.stdout
    assert result.stdout.endswith(f"{STEPS} steps, 1 failed\n")
    assert "\x1b[31m\x1b[1mFAILED" in check("--color", "always", *words).stdout


def test_the_command_refuses_what_is_no_command_line() -> None:
    for words in ([], [""], ["cmd:"], ["'x"]):
        result = check(*words)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
