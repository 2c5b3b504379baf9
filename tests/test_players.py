"""The players of a match: rounds with them, every way to fail, and what they are never shown."""

from __future__ import annotations

import os
import pickle
import random
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from helpers import TABLE_NAMES, TABLES

import bigtop.players
from bigtop.core.rng import Rng
from bigtop.core.state import Round, deal, deck
from bigtop.engines import EngineSpecError, make_engine
from bigtop.notation import Game, Position
from bigtop.players import (
    REASONS,
    Clock,
    EnginePlayer,
    Limits,
    MatchPlayer,
    PlayerFailure,
    Program,
    ProgramPlayer,
    PythonPlayer,
    decision_seed,
    make_player,
    parse_budget,
    shown_to,
)

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "engine.py"
BIGTOP = [sys.executable, "-c", "from bigtop.cli.main import main; main()"]
PATIENT = Limits(handshake=30, grace=30, untimed=30, close=30)
"""For programs that must not fail, on however busy a machine."""


# Helpers ----------------------------------------------------------------------------------------


def running(group: int) -> list[str]:
    """The processes of a group that still run, and those that were not waited for."""
    if not Path("/proc/self/stat").exists():
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return []
        return [str(group)]
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent, its_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has ended since
            continue
        # A dead process whose parent is not this one is the system's to clear away.
        if int(its_group) == group and (state != "Z" or int(parent) == os.getpid()):
            found.append(folder.name)
    return found


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The programs that a test starts; none of them, nor of their own, may be left after it."""
    pids: list[int] = []
    begin = Program.__init__

    def recorded(self: Program, *args: object, **options: object) -> None:
        begin(self, *args, **options)  # type: ignore[arg-type]
        pids.append(self.pid)

    monkeypatch.setattr(Program, "__init__", recorded)
    yield pids
    until = time.monotonic() + 10  # a kill takes a moment to arrive
    while left := [pid for group in pids for pid in running(group)]:
        assert time.monotonic() < until, left
        time.sleep(0.01)


def dealt(players: int, seed: int) -> Position:
    return Position.from_round(deal(players, Rng(seed)))


def play(position: Position, players: Sequence[MatchPlayer]) -> Position:
    """Play a round to its end, as a match does."""
    while not position.is_over:
        player = players[position.turn]
        if position.flipping:
            token = "flip" if player.flip(position) else "keep"
        else:
            token = player.choose(position, player.clock)
            assert token == position.token(position.code(token))
        position = position.play(token)
    return position


def example(replaced: str = "", by: str = "") -> list[str]:
    """The command of the example engine, with a line of it replaced."""
    source = EXAMPLE.read_text("utf-8")
    if not replaced:
        return [sys.executable, str(EXAMPLE)]
    (line,) = [line for line in source.splitlines() if replaced in line]
    indent = line[: len(line) - len(line.lstrip())]
    lines = "".join(f"{indent}{new}\n" for new in by.splitlines())
    return [sys.executable, "-c", source.replace(f"{line}\n", lines)]


def answering(code: str, before: str = "count = 0") -> list[str]:
    """An engine that runs this code instead of answering `go`; `count` counts the questions."""
    source = EXAMPLE.read_text("utf-8")
    (line,) = [line for line in source.splitlines() if "bestmove" in line]
    lines = "".join(f"        {new}\n" for new in f"count += 1\n{code}".splitlines())
    source = source.replace(f"{line}\n", lines)
    return [sys.executable, "-c", f"import os, signal, subprocess, time\n{before}\n{source}"]


ANSWER = 'print("bestmove", choose(position), flush=True)'


def failure(
    command: Sequence[str], limits: Limits = PATIENT, clock: Clock = bigtop.players.OWN_BUDGET
) -> PlayerFailure:
    """How a program fails in a round with planners; it must."""
    program = ProgramPlayer(command, 1, clock, limits=limits)
    with program:
        return failing(program)


def failing(player: MatchPlayer) -> PlayerFailure:
    with pytest.raises(PlayerFailure) as caught:
        play(dealt(3, 5), [player, *(make_player("planner", seat) for seat in (1, 2))])
    assert caught.value.why in REASONS
    assert str(caught.value) == f"{caught.value.why}: {caught.value.detail}"
    assert caught.value.detail.isprintable()
    return caught.value


# Rounds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_example_plays_whole_rounds_against_planners(players: int) -> None:
    ends = set()
    with ProgramPlayer(example(), 0, limits=PATIENT) as engine:
        for seed in range(12):
            table: list[MatchPlayer] = [make_player("planner", seed) for _ in range(players)]
            table[seed % players] = engine
            engine.new_round(seed)
            ends.add(play(dealt(players, seed), table).end)
        assert engine.name == "Strongest set"
    assert ends <= {"i", "ii"}


def test_the_example_plays_the_edition_with_a_forced_pass() -> None:
    passed = 0
    with ProgramPlayer(example(), 0, limits=PATIENT) as engine:
        for seed in range(20):
            cards = deal(2, Rng(seed))
            hands = [cards.hand(0), cards.hand(1)]
            first = Position.from_deal(hands, cards.start, forced_pass=True)
            engine.new_round(seed)
            last = play(first, [engine, make_player("random", seed)])
            passed += last.moves[-1] == "pass"
    assert passed


def test_the_example_is_short_and_imports_nothing_of_bigtop() -> None:
    source = EXAMPLE.read_text("utf-8")
    assert len(source.splitlines()) <= 60
    imports = [line for line in source.splitlines() if line.startswith(("import ", "from "))]
    assert imports == ["import sys", "from itertools import pairwise"]
    assert "__import__" not in source


def test_an_engine_plays_the_same_in_this_process_and_as_a_program() -> None:
    spec = "ismcts:sims=60"
    first = dealt(4, 3)
    inside = [make_player(spec, 100 + seat) for seat in range(4)]
    outside = [
        ProgramPlayer([*BIGTOP, "engine", "--engine", spec], 100 + seat, limits=PATIENT)
        for seat in range(4)
    ]
    try:
        assert play(first, outside).history == play(first, inside).history
    finally:
        for player in outside:
            player.close()


def test_a_budget_from_outside_reaches_the_program() -> None:
    first = dealt(3, 3)
    budget = Clock(sims=60)
    outside = [
        ProgramPlayer([*BIGTOP, "engine", "--engine", "flat:sims=9"], seat, budget, limits=PATIENT)
        for seat in range(3)
    ]
    try:
        inside = [make_player("flat:sims=60", seat) for seat in range(3)]
        assert play(first, outside).history == play(first, inside).history
    finally:
        for player in outside:
            player.close()


def test_a_decision_repeats_alone() -> None:
    """Nothing that was played before decides, only the position and the round's seed."""
    players = [make_player("ismcts:sims=40", 9) for _ in range(3)]
    last = play(dealt(3, 8), players)
    position = Position.from_round(last.first)
    for token in last.moves:
        again = make_player("ismcts:sims=40", 4)
        again.new_round(9)
        if position.flipping:
            assert again.flip(position) is (token == "flip")
        else:
            read = Position.parse(position.history)
            assert again.choose(read, again.clock) == position.token(position.code(token))
        position = position.play(token)


def test_the_seeds_of_the_decisions_of_a_round_differ() -> None:
    position = dealt(4, 2)
    seeds = []
    while not position.is_over:
        seeds.append(decision_seed(7, position))
        assert seeds[-1] == decision_seed(7, position.view(position.turn))
        assert seeds[-1] != decision_seed(8, position)
        position = position.play(position.legal_moves()[0])
    assert len(set(seeds)) == len(seeds) > 10
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_an_engine_takes_another_budget_than_its_own() -> None:
    position = dealt(3, 3)
    for _ in range(3):
        position = position.play("keep")
    seed = decision_seed(5, position)
    small = make_player("ismcts:sims=30", 5)
    assert small.clock == Clock(sims=30)
    for sims in (30, 200):
        expected = make_engine(f"ismcts:sims={sims}").answer(shown_to(position), seed)
        assert small.choose(position, Clock(sims=sims)) == expected.move
    assert small.choose(position, Clock()) == small.choose(position, Clock(sims=30))
    assert make_player("flat:time=0.25", 1).clock == Clock(seconds=0.25)
    planner = make_player("planner", 5)
    assert planner.clock == Clock()
    assert planner.choose(position, Clock(sims=5)) == planner.choose(position, Clock())


def test_an_engine_that_breaks_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    player = make_player("planner", 1)
    assert isinstance(player, EnginePlayer)

    def fail(*args: object, **others: object) -> None:
        raise ZeroDivisionError("lost\nits way")

    monkeypatch.setattr(player.engine, "answer", fail)
    broken = failing(player)
    assert (broken.why, broken.detail) == ("crashed", "ZeroDivisionError: lost its way")


# Failures of programs ---------------------------------------------------------------------------


def test_a_program_that_is_not_there_has_crashed() -> None:
    broken = failure(["/nowhere/engine"])
    assert broken.why == "crashed"
    assert "No such file" in broken.detail
    assert "/nowhere/engine" in broken.detail


def test_a_file_that_cannot_be_run_has_crashed(tmp_path: Path) -> None:
    (tmp_path / "engine").write_text("no program")
    broken = failure([str(tmp_path / "engine")])
    assert broken.why == "crashed"
    assert "cannot be started" in broken.detail


def test_a_crash_at_the_start_says_what_the_program_said() -> None:
    broken = failure([sys.executable, "-c", "import sys; sys.exit('no \\x1b model')"])
    assert broken.why == "crashed"
    assert "status 1" in broken.detail
    assert "it said: no \\x1b model" in broken.detail


def test_a_program_that_ends_without_a_word_has_crashed() -> None:
    broken = failure([sys.executable, "-c", ""])
    assert broken.why == "crashed"
    assert "status 0" in broken.detail


def test_a_crash_at_some_move() -> None:
    broken = failure(answering(f"if count == 4: raise RuntimeError('lost')\n{ANSWER}"))
    assert broken.why == "crashed"
    assert broken.detail.endswith("RuntimeError: lost")


def test_an_end_by_a_signal_is_named() -> None:
    broken = failure(answering("os.kill(os.getpid(), signal.SIGSEGV)"))
    assert broken.why == "crashed"
    assert "SIGSEGV" in broken.detail


@pytest.mark.parametrize(
    "answer", ["S99", "S1-2-3", "nonsense", "pass", "keep", "\\x1b[31m", "R5000"]
)
def test_an_illegal_answer(answer: str) -> None:
    code = f"print('bestmove', 'keep' if 'f' in position.split()[2] else '{answer}', flush=True)"
    broken = failure(answering(code))
    assert broken.why == "illegal move"


def test_a_move_in_the_flip_phase_is_illegal() -> None:
    broken = failure(answering("print('bestmove S1', flush=True)"))
    assert broken.why == "illegal move"


@pytest.mark.parametrize("answer", ["", " ", "S1 S2", "S1 ponder L1"])
def test_an_answer_that_is_not_one_move(answer: str) -> None:
    broken = failure(answering(f"print('bestmove {answer}', flush=True)"))
    assert broken.why == "protocol"
    assert "one move after bestmove" in broken.detail


HANG = "while True: time.sleep(1)"


@pytest.mark.parametrize("clock", [Clock(), Clock(sims=5), Clock(seconds=0.01)])
def test_a_program_that_hangs_is_too_late(clock: Clock) -> None:
    limits = Limits(handshake=30, grace=0.1, untimed=0.1, close=30)
    broken = failure(answering(HANG), limits, clock)
    assert broken.why == "too late"
    assert "no bestmove within 0.1" in broken.detail


def test_a_program_that_never_identifies_itself_is_too_late() -> None:
    broken = failure([sys.executable, "-c", "import time; time.sleep(1000)"], Limits(handshake=0.1))
    assert broken.why == "too late"


def test_a_program_that_never_gets_ready_is_too_late() -> None:
    command = example('print("readyok"', "if position: input()\nelse: print('readyok', flush=True)")
    with ProgramPlayer(command, 1, limits=PATIENT) as engine:
        engine.start()
        engine.limits = Limits(handshake=0.1)
        broken = failing(engine)
    assert broken.why == "too late"
    assert "no readyok within 0.1 s" in broken.detail


def test_a_program_that_cannot_be_interrupted_is_killed() -> None:
    deaf = "for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):\n"
    deaf += f"    signal.signal(number, signal.SIG_IGN)\n{HANG}"
    broken = failure(answering(deaf), Limits(handshake=30, untimed=0.1))
    assert broken.why == "too late"


def test_a_program_that_does_not_quit_is_killed() -> None:
    command = example('elif word == "quit"', 'elif word == "nothing":')
    command[-1] += "import time\ntime.sleep(1000)\n"
    player = ProgramPlayer(command, 1, limits=Limits(handshake=30, close=0.1))
    player.start()
    player.close()


def test_a_quick_program_is_in_time() -> None:
    with ProgramPlayer(example(), 1, Clock(seconds=0.5), limits=PATIENT) as engine:
        engine.new_round(1)
        play(dealt(2, 1), [engine, make_player("greedy", 1)])


@pytest.mark.parametrize(
    "code",
    [
        "while True: print('info string', 'x' * 1000, flush=True)",
        "while True: print('x' * 1000, end='', flush=True)",
        f"print('info string', 'x' * 100_000, flush=True)\n{ANSWER}",
        "while True: print()",
    ],
    ids=["lines", "no line", "one long line", "empty lines"],
)
def test_a_flood_is_cut(code: str) -> None:
    broken = failure(answering(code), Limits(handshake=30, untimed=30, output=200_000))
    assert broken.why == "flooded"


def test_a_line_that_is_too_long_is_a_flood_although_it_ends() -> None:
    code = "import os; os.write(1, b'short\\n' + b'x' * 20 + b'\\nshort\\n')"
    program = Program([sys.executable, "-c", code], Limits(line=19, close=30))
    until = time.monotonic() + 60
    assert program.receive(until, "a line") == "short"
    with pytest.raises(PlayerFailure, match="flooded: a line of more than 19 bytes"):
        program.receive(until, "a line")
    program.close()


def test_a_flood_at_the_start_is_cut() -> None:
    broken = failure([sys.executable, "-c", "while True: print('hello')"], PATIENT)
    assert broken.why == "flooded"
    assert "1048576 bytes" in broken.detail


def test_much_output_below_the_limit_does_no_harm() -> None:
    chatty = f"for i in range(900): print('info string', 'x' * 1000)\n{ANSWER}"
    with ProgramPlayer(answering(chatty), 1, limits=PATIENT) as engine:
        play(dealt(2, 1), [engine, make_player("greedy", 1)])


def test_much_output_on_standard_error_does_no_harm() -> None:
    chatty = f"print('x' * 1_000_000, file=sys.stderr)\n{ANSWER}"
    with ProgramPlayer(answering(chatty), 1, limits=PATIENT) as engine:
        play(dealt(2, 1), [engine, make_player("greedy", 1)])


def test_a_second_answer_is_found_out_and_never_taken_for_the_next_one() -> None:
    broken = failure(answering(f"{ANSWER}\n{ANSWER}"))
    assert broken.why == "protocol"
    assert "without being asked" in broken.detail


def test_an_answer_before_the_question_is_a_failure() -> None:
    broken = failure(example("position = rest", "position = rest\nprint('bestmove keep')"))
    assert broken.why == "protocol"
    assert "without being asked" in broken.detail


def test_a_program_that_dies_after_its_answer_fails_at_the_next_one() -> None:
    command = answering(f"{ANSWER}\nraise SystemExit(4)")
    first = dealt(3, 5)
    with ProgramPlayer(command, 1, limits=PATIENT) as engine:
        position = first.play("flip" if engine.flip(first) else "keep").play("keep").play("keep")
        while position.turn != 0:
            position = position.play(position.legal_moves()[0])
        with pytest.raises(PlayerFailure, match="crashed: it ended with status 4"):
            engine.choose(position, Clock())
        engine.new_round(2)  # it is started again
        assert engine.flip(first) is False


def test_a_program_that_ends_between_two_rounds_is_started_again(
    started: list[int],
) -> None:
    with ProgramPlayer(answering(f"{ANSWER}\nraise SystemExit"), 1, limits=PATIENT) as engine:
        for number in range(1, 4):
            engine.new_round(number)
            engine.flip(dealt(3, number))
            pid = started[-1]
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
            assert len(started) == number


@pytest.mark.parametrize(
    "garbage",
    [
        "print('Loading the model...', flush=True)",
        "sys.stdout.buffer.write(bytes(range(1, 256)) + b'\\n')\nsys.stdout.flush()",
        "sys.stdout.buffer.write(bytes(1000) + b'\\n')\nsys.stdout.flush()",
        "print('BESTMOVE S1', flush=True)",
        "print('readyok', flush=True)",
    ],
)
def test_garbage_is_a_failure(garbage: str) -> None:
    broken = failure(answering(f"{garbage}\n{ANSWER}"))
    assert broken.why == "protocol"
    assert "expected bestmove or info" in broken.detail


def test_a_banner_before_the_handshake_is_no_failure() -> None:
    command = answering(ANSWER, "count = 0\nprint('My engine 0.1')\nprint()")
    with ProgramPlayer(command, 1, limits=PATIENT) as engine:
        play(dealt(2, 1), [engine, make_player("greedy", 1)])


@pytest.mark.parametrize("said", ["bepok 2", "bepok", "bepok one", "bepok 1 1", "error not me"])
def test_another_version_of_the_protocol_is_refused(said: str) -> None:
    command = example('word == "bep"', f"if word == 'bep': print('{said}', flush=True)\nelif 0:")
    broken = failure(command)
    assert broken.why == "protocol"


def test_an_error_line_is_a_failure_with_its_text() -> None:
    broken = failure(answering("print('error no idea', flush=True)"))
    assert (broken.why, broken.detail) == ("protocol", "it says: no idea")


def test_a_program_that_closes_its_output_is_not_waited_for() -> None:
    closing = f"os.close(1)\n{HANG}"
    broken = failure(answering(closing), Limits(handshake=30, untimed=30, close=0.1))
    assert broken.why == "protocol"
    assert "closed its output" in broken.detail


def test_a_death_is_noticed_although_the_pipes_stay_open() -> None:
    """A process that the engine started holds them; it must not be left, either."""
    code = "subprocess.Popen(['sleep', '1000'])\nos._exit(7)"
    broken = failure(answering(code), Limits(handshake=30, untimed=30, close=30))
    assert broken.why == "crashed"
    assert "status 7" in broken.detail


def test_the_processes_that_a_program_started_end_with_it() -> None:
    command = answering(ANSWER, "count = 0\nsubprocess.Popen(['sleep', '1000'])")
    with ProgramPlayer(command, 1, limits=PATIENT) as engine:
        play(dealt(2, 1), [engine, make_player("greedy", 1)])


def test_a_program_that_does_not_read_blocks_nobody() -> None:
    program = Program([sys.executable, "-c", "import time; time.sleep(1000)"], Limits(close=0.1))
    program.send("x" * 1_000_000)
    with pytest.raises(PlayerFailure, match="too late"):
        program.receive(time.monotonic() + 0.1, "a sign of life")
    program.close("quit")
    assert program.status == -signal.SIGKILL


def test_a_player_plays_on_after_each_failure() -> None:
    """Every round is played, in spite of the one before."""
    code = "if count == 3: print('bestmove S99', flush=True)\n"
    code += f"elif count == 6: raise RuntimeError\nelse: {ANSWER}"
    failures = 0
    with ProgramPlayer(answering(code), 1, limits=PATIENT) as engine:
        for seed in range(4):
            engine.new_round(seed)
            try:
                play(dealt(2, 11), [engine, make_player("planner", 1)])
            except PlayerFailure:
                failures += 1
    assert failures > 1


def test_an_interrupt_leaves_nothing_half_said(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ProgramPlayer(example(), 1, limits=PATIENT)
    engine.new_round(1)
    receive = Program.receive

    def interrupted(self: Program, deadline: float, wanted: str) -> str:
        if wanted.startswith("bestmove"):
            raise KeyboardInterrupt
        return receive(self, deadline, wanted)

    monkeypatch.setattr(Program, "receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.flip(dealt(3, 1))
    monkeypatch.undo()
    assert engine.flip(dealt(3, 1)) is False
    engine.close()


def test_a_program_ends_when_nobody_holds_its_player_any_more() -> None:
    engine = ProgramPlayer(example(), 1, limits=PATIENT)
    engine.start()
    del engine


def test_options_that_are_offered_are_set(tmp_path: Path) -> None:
    log = tmp_path / "log"
    offer = "option name memory type spin default 1 min 1 max 2\\noption name depth type spin"
    command = answering(ANSWER, f"count = 0\nprint('{offer} default 1 min 1 max 9')")
    heard = f"    open({str(log)!r}, 'a').write(line)\n"
    command[-1] = command[-1].replace("    word, _, rest", f"{heard}    word, _, rest")
    with ProgramPlayer(command, 1, limits=PATIENT, threads=3, memory=77) as engine:
        engine.start()
    said = log.read_text().splitlines()
    assert [line for line in said if "setoption" in line] == ["setoption name memory value 77"]
    assert said[0] == "bep 1"
    assert said[-1] == "quit"


# Classes ----------------------------------------------------------------------------------------

CLASSES = """
import os, random, sys

print("a banner")

class Good:
    rounds = 0
    def new_round(self):
        self.rounds += 1
    def choose(self, position, clock):
        print("thinking", clock)
        assert sys.stdin.read() == ""
        return random.choice(position.legal_moves())
    def flip(self, position):
        return random.random() < 0.5

class Hashes(Good):
    def choose(self, position, clock):
        return min(position.legal_moves(), key=hash)

class Counts(Good):
    def choose(self, position, clock):
        raise RuntimeError(f"{self.rounds} rounds")

class Raises(Good):
    def choose(self, position, clock):
        raise ValueError("no\\nidea")

class Exits(Good):
    def choose(self, position, clock):
        sys.exit("enough")

class ExitsAtOnce(Good):
    def choose(self, position, clock):
        os._exit(0)

class Loops(Good):
    def choose(self, position, clock):
        while True: pass

class Floods(Good):
    def choose(self, position, clock):
        while True: sys.stderr.write("x" * 1000)

class Nothing(Good):
    def choose(self, position, clock):
        pass

class Illegal(Good):
    def choose(self, position, clock):
        return "S1 S2\\nbestmove S1"

class NoFlip(Good):
    def flip(self, position):
        pass

class Unmade(Good):
    def __init__(self):
        raise KeyError("weights")

class Recurses(Good):
    def choose(self, position, clock):
        return self.choose(position, clock)
"""


@pytest.fixture
def classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with the module `homemade` in it."""
    (tmp_path / "homemade.py").write_text(CLASSES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("classes")
def test_a_class_plays_rounds_that_repeat(capfd: pytest.CaptureFixture[str]) -> None:
    played = []
    with make_player("python:homemade:Good", 0, Clock(sims=3), limits=PATIENT) as player:
        assert isinstance(player, PythonPlayer)
        assert player.spec == "python:homemade:Good"
        for seed in (1, 2, 1):
            player.new_round(seed)
            table = [make_player("greedy", 1), player, make_player("planner", 1)]
            played.append(play(dealt(3, 4), table).history)
        assert player.name == "homemade:Good"
    assert played[0] == played[2] != played[1]
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("classes")
def test_the_order_of_a_set_is_the_same_in_every_process() -> None:
    played = set()
    for _ in range(2):
        with make_player("python:homemade:Hashes", 0, limits=PATIENT) as player:
            table = [player, make_player("greedy", 1), make_player("planner", 1)]
            played.add(play(dealt(3, 4), table).history)
    assert len(played) == 1


@pytest.mark.usefixtures("classes")
@pytest.mark.parametrize(
    ("name", "why", "said"),
    [
        ("Raises", "crashed", "ValueError: no / idea"),
        ("Counts", "crashed", "RuntimeError: 1 rounds"),
        ("Exits", "crashed", "enough"),
        ("ExitsAtOnce", "crashed", "status 0"),
        ("Loops", "too late", "no bestmove within 0.3 s"),
        ("Floods", "too late", "no bestmove within 0.3 s"),
        ("Nothing", "crashed", "expected the token of a move from choose(), got None"),
        ("Illegal", "illegal move", "S1?S2?bestmove?S1"),
        ("NoFlip", "crashed", "expected True or False from flip(), got None"),
        ("Unmade", "crashed", "KeyError: 'weights'"),
        ("Recurses", "crashed", "RecursionError"),
        ("Missing", "crashed", "AttributeError: module 'homemade' has no attribute 'Missing'"),
    ],
)
def test_errors_in_a_class_are_named_failures(name: str, why: str, said: str) -> None:
    wait = 0.3 if why == "too late" else 30
    limits = Limits(handshake=30, grace=wait, untimed=wait, close=30)
    with make_player(f"python:homemade:{name}", 1, limits=limits) as player:
        broken = failing(player)
    assert broken.why == why
    assert said in broken.detail


@pytest.mark.usefixtures("classes")
def test_a_class_does_not_outlive_the_host() -> None:
    """When the host is gone the input ends, and that ends a class that never looks up."""
    player = make_player("python:homemade:Loops", 1, limits=PATIENT)
    assert isinstance(player, PythonPlayer)
    program = Program(player.command, PATIENT)
    program.send("bep 1", "position 34.T5.75/x3 63@1 0 - 9+2/6+1 38", "go")
    until = time.monotonic() + 60
    while program.receive(until, "bepok") != "bepok 1":
        pass
    program.close()
    assert program.status == 0


def test_a_module_that_is_not_there_or_breaks_is_a_crash(classes: Path) -> None:
    with make_player("python:nowhere:Player", 1, limits=PATIENT) as player:
        assert "No module named 'nowhere'" in failing(player).detail
    (classes / "broken.py").write_text("1 / 0")
    with (
        make_player("python:broken:Player", 1, limits=PATIENT) as player,
        pytest.raises(PlayerFailure, match=r"crashed: .*ZeroDivisionError"),
    ):
        player.start()


def test_files_of_the_current_directory_replace_nothing_of_python(classes: Path) -> None:
    for name in ("json", "bigtop", "colorsys"):
        (classes / f"{name}.py").write_text("raise SystemExit('not me')")
    (classes / "more.py").write_text("import colorsys, json\nfrom homemade import Good\n")
    with make_player("python:more:Good", 1, limits=PATIENT) as player:
        player.start()


def test_a_class_in_a_package(classes: Path) -> None:
    (classes / "mine").mkdir()
    (classes / "mine" / "deep.py").write_text("from homemade import Good\nclass Best(Good): ...\n")
    with make_player("python:mine.deep:Best", 1, limits=PATIENT) as player:
        play(dealt(2, 1), [player, make_player("greedy", 1)])


# What a player is shown -------------------------------------------------------------------------


def logging_program(log: Path) -> list[str]:
    """The example engine, writing down everything that it is sent."""
    heard = f"    open({str(log)!r}, 'a').write(line)\n"
    source = EXAMPLE.read_text("utf-8").replace("    word, _, rest", f"{heard}    word, _, rest")
    assert heard in source
    return [sys.executable, "-c", source]


LOGGING_CLASS = """
class Logs:
    def note(self, *things):
        with open({log!r}, "a") as file:
            print(*map(repr, things), file=file)
    def choose(self, position, clock):
        round = position.round
        hands = [round.hand(seat) for seat in range(round.players)]
        self.note(position, position.first.hand(0), position.first.hand(1), hands, clock)
        self.note(position.game, position.plies, round.out, vars(clock))
        return position.legal_moves()[0]
    def flip(self, position):
        self.note(position, position.plies, position.game)
        return False
"""


def other_world(last: Position, seat: int, rng: random.Random) -> Position | None:
    """Another deal of which `seat` saw and heard the same until the end of a round.

    Cards that the others never showed, and that were not scouted, change places and sides. None
    when there are none: two players may show all that they hold.
    """
    first = last.first
    hands = [bytearray(first.hand(who)) for who in range(first.players)]
    low = {card: min(card, (card & 15) << 4 | card >> 4) for card in range(256)}
    seen = {low[card] for ply in last.plies for card in ply.cards}
    places = [
        (who, place)
        for who, hand in enumerate(hands)
        if who != seat
        for place, card in enumerate(hand)
        if low[card] not in seen
    ]
    if not places:
        return None
    dealt_cards = {low[card] for hand in hands for card in hand}
    spare = [card for card in deck(first.players) if card not in dealt_cards]
    cards = [low[hands[who][place]] for who, place in places] + spare
    rng.shuffle(cards)
    for (who, place), card in zip(places, cards, strict=False):
        hands[who][place] = card if rng.random() < 0.5 else (card & 15) << 4 | card >> 4
    assert [bytes(hand) for hand in hands] != [first.hand(who) for who in range(first.players)]
    return Position.from_deal(
        [bytes(hand) for hand in hands],
        first.start,
        forced_pass=first.forced_pass,
        game=last.game,
    )


def replayed(position: Position, moves: Sequence[str], seat: int, player: MatchPlayer) -> Position:
    """Play the moves of a round again; those of `seat` are asked for once more."""
    player.new_round(77)
    for token in moves:
        if position.turn == seat:
            if position.flipping:
                assert ("flip" if player.flip(position) else "keep") == token
            else:
                assert player.choose(position, Clock(sims=50)) == token
        position = position.play(token)
    return position


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
@pytest.mark.parametrize("kind", ["cmd", "python", "ismcts:sims=50"])
def test_nothing_hidden_is_shown(
    kind: str, table: tuple[int, bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds on two deals that look the same to a seat: it is told exactly the same."""
    players, forced_pass = table
    log = tmp_path / "log"
    spec = kind
    if kind == "cmd":
        spec = f"cmd:{shlex.join(logging_program(log))}"
    if kind == "python":
        (tmp_path / "logs.py").write_text(LOGGING_CLASS.format(log=str(log)))
        monkeypatch.chdir(tmp_path)
        spec = "python:logs:Logs"
    rng = random.Random(players)
    compared = 0
    with make_player(spec, 1, Clock(sims=50), limits=PATIENT) as player:
        for seat in range(players):
            seated = [make_player("planner", who) for who in range(players)]
            seated[seat] = player
            player.start()
            log.unlink(missing_ok=True)
            player.new_round(77)
            cards = deal(players, Rng(40 + seat))
            hands = [cards.hand(who) for who in range(players)]
            game = Game(2, tuple(range(-1, players - 1))) if seat else None
            first = Position.from_deal(hands, cards.start, forced_pass=forced_pass, game=game)
            last = play(first, seated)
            told = log.read_text() if log.exists() else ""
            log.unlink(missing_ok=True)
            other = other_world(last, seat, rng)
            if other is None:
                continue
            compared += 1
            replayed(other, last.moves, seat, player)
            assert (log.read_text() if log.exists() else "") == told
            assert bool(told) is (kind in ("cmd", "python"))
            log.unlink(missing_ok=True)
    assert compared >= players - 1


@pytest.mark.parametrize("players", [2, 5])
def test_nobody_learns_what_the_others_choose_in_the_flip_phase(
    players: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    told = set()
    with ProgramPlayer(logging_program(log), 1, limits=PATIENT) as player:
        for choices in (["keep", "flip"] * 2, ["flip"] * 4, ["keep"] * 4):
            position = dealt(players, 6)
            for token in choices[: players - 1]:
                position = position.play(token)
            player.new_round(3)
            player.flip(position)
            told.add(log.read_text().partition("newround")[2])
            log.unlink()
    assert len(told) == 1
    assert "position x" in told.pop()


def test_what_is_shown_is_the_view() -> None:
    first = dealt(4, 9)
    assert shown_to(first).round == first.round.view(0)
    assert shown_to(first.play("flip")).moves == ()
    position = first.play("flip").play("keep").play("keep").play("flip")
    assert shown_to(position) == position.view(position.turn)
    assert shown_to(position).moves == ("flip", "keep", "keep", "flip")
    assert shown_to(shown_to(position)) == shown_to(position)


# Specs, budgets, failures -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "expected an engine (random, "),
        ("nobody", "python:MODULE:CLASS or cmd:PROGRAM ARGS: 'nobody'"),
        ("ismcts:sims=x", "expected a whole number from 1 for sims: 'x'"),
        ("python", "expected python:MODULE:CLASS: 'python'"),
        ("python:", "expected python:MODULE:CLASS: 'python:'"),
        ("python:module", "expected python:MODULE:CLASS: 'python:module'"),
        ("python:a-b:C", "expected python:MODULE:CLASS: 'python:a-b:C'"),
        ("python:a..b:C", "expected python:MODULE:CLASS: 'python:a..b:C'"),
        ("python:a:C:d", "expected python:MODULE:CLASS: 'python:a:C:d'"),
        ("python:a:C()", "expected python:MODULE:CLASS: 'python:a:C()'"),
        ("cmd", "expected cmd:PROGRAM ARGS: 'cmd'"),
        ("cmd:", "expected cmd:PROGRAM ARGS: 'cmd:'"),
        ("cmd:  ", "expected cmd:PROGRAM ARGS: 'cmd:  '"),
        ("cmd:'x", 'expected a command line after cmd: (no closing quotation): "cmd:\'x"'),
    ],
)
def test_specs_that_name_nobody(spec: str, message: str) -> None:
    with pytest.raises(EngineSpecError) as caught:
        make_player(spec, 1)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_shell_reads_the_command_line(tmp_path: Path) -> None:
    player = make_player(f"cmd: engine 'a b' $HOME; touch {tmp_path}/made ", 1, Clock(sims=4))
    assert isinstance(player, ProgramPlayer)
    assert player.command == ("engine", "a b", "$HOME;", "touch", f"{tmp_path}/made")
    assert player.spec == f"cmd:engine 'a b' $HOME; touch {tmp_path}/made"
    assert player.clock == Clock(sims=4)
    assert failing(player).why == "crashed"
    assert not (tmp_path / "made").exists()


def test_the_spec_of_an_engine_is_canonical() -> None:
    assert make_player("planner:scout=1", 1).spec == "planner"
    assert make_player("flat", 1, Clock(sims=3)).spec == make_engine("flat").spec
    assert ProgramPlayer(["a b", "c"], 1).spec == "cmd:'a b' c"


def test_budgets() -> None:
    assert parse_budget("sims=500") == Clock(sims=500)
    assert parse_budget("time=0.25") == Clock(seconds=0.25)
    assert make_player("cmd:engine", 1, "time=0.25").clock == Clock(seconds=0.25)
    with pytest.raises(EngineSpecError, match="expected a budget"):
        make_player("planner", 1, "much")
    for text in ("", "sims", "sims=", "sims=0", "sims=1.5", "time=0", "time=-1", "time=nan",
                 "depth=3", "sims=5,time=1", "sims=1e3"):  # fmt: skip
        with pytest.raises(EngineSpecError, match="expected a"):
            parse_budget(text)
    with pytest.raises(ValueError, match="not both"):
        Clock(sims=1, seconds=1)
    for sims, seconds in ((0, None), (None, 0.0), (None, float("inf")), (None, float("nan"))):
        with pytest.raises(ValueError, match="expected"):
            Clock(sims, seconds)


def test_a_failure_survives_the_way_from_another_process() -> None:
    broken = pickle.loads(pickle.dumps(PlayerFailure("too late", "no\nbestmove")))
    assert (broken.why, broken.detail, str(broken)) == (
        "too late",
        "no bestmove",
        "too late: no bestmove",
    )


def test_a_round_object_of_the_middle_of_a_round_can_be_asked_about() -> None:
    """A position without its history is enough to choose a move."""
    text = "34.T5.75/71.T1.31 63@1 0 - 9+2/6+1 38"
    position = Position.parse(text)
    with ProgramPlayer(example(), 1, limits=PATIENT) as engine:
        assert engine.choose(position, Clock()) in position.legal_moves()
    assert isinstance(position.round, Round)
