"""What goes wrong around Bigtop: no memory, Ctrl-C, forks, disks, files that are not its own."""

from __future__ import annotations

import ast
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import CliRunner
from helpers import vectors

from bigtop import training, weights
from bigtop.boards import Run
from bigtop.cli import main as cli_main
from bigtop.cli.main import bigtop
from bigtop.core.train import Samples
from bigtop.engines import make_engine
from bigtop.interrupts import held, waited
from bigtop.notation import Position
from bigtop.runs import RecordFile
from bigtop.training import Plan

PROCESS = [sys.executable, "-c", "from bigtop.cli.main import main; main()"]
VIEW = "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
FULL: str = vectors("perft.jsonl")[-1]["position"]
MANY = "1000000000"
PATIENCE = 60  # seconds until a process counts as hung


def run_code(code: str, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *args],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **options,
    )


def one_line(stderr: str) -> str:
    """The one line of complaint, beside the seed that was drawn."""
    (line,) = [line for line in stderr.splitlines() if not line.startswith("bigtop: seed ")]
    assert line.startswith("bigtop: ")
    return line


# No memory ------------------------------------------------------------------------------------

SQUEEZED = """
import os, resource, sys
from bigtop.cli.main import bigtop, main
import bigtop.cli.hint, bigtop.cli.perft, bigtop.cli.train, bigtop.training
import bigtop.core.chain, bigtop.core.flat, bigtop.core.ismcts, bigtop.weights
rooms, *sys.argv[1:] = sys.argv[1:]
for room in rooms.split(","):
    if not (child := os.fork()):
        pages = int(open("/proc/self/statm").read().split()[0])
        limit = pages * resource.getpagesize() + int(room)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        main()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"status {status}", file=sys.stderr, flush=True)
"""
"""The command line with so many bytes more than it has when everything is imported, once for
each number of them."""

linux_only = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")


@linux_only
@pytest.mark.parametrize(
    ("args", "room"),
    [
        (["ismcts", "--memory", "2000"], 1 << 28),
        (["ismcts:trees=256", "--memory", "2000"], 1 << 28),
        (["ismcts:hands=200000", "--memory", "300"], 1 << 25),
        (["flat", "--sims", "90000", "--threads", "64"], 1 << 24),
        (["bigtop", "--sims", "90000", "--threads", "64"], 1 << 24),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_search_without_memory_is_a_failure_in_one_line(args: list[str], room: int) -> None:
    ran = run_code(SQUEEZED, str(room), "hint", VIEW, "--seed", "1", "--engine", *args)
    assert ran.stdout == ""
    complaint, status = ran.stderr.splitlines()
    assert status == "status 1"
    assert "failed: out of memory (--memory" in one_line(complaint)


@linux_only
@pytest.mark.parametrize("what", ["flat", "ismcts", "bigtop", "perft", "train"])
def test_however_little_memory_there_is_an_answer_or_a_clear_no(what: str, tmp_path: Path) -> None:
    args = {
        "perft": ["perft", FULL, "2"],
        "train": [
            "train",
            str(tmp_path / "w"),
            "--players",
            "3",
            "--rounds",
            "1",
            "--seed",
            "1",
            "--threads",
            "1",
        ],
    }.get(what, ["hint", VIEW, "--engine", what, "--sims", "300", "--memory", "16", "--seed", "1"])
    rooms = [0, 1 << 12, 1 << 16, 1 << 19, 1 << 22, 1 << 24]
    ran = run_code(SQUEEZED, ",".join(map(str, rooms)), *args)  # fmt: skip
    lines = ran.stderr.splitlines()
    for _ in rooms:
        line = lines.pop(0)
        if line != "status 0":
            assert "out of memory" in one_line(line)
            assert lines.pop(0) == "status 1"
    assert lines == []


@linux_only
def test_samples_without_memory_are_as_they_were() -> None:
    """Room that could not be had is not taken for there: what follows must fit into the old."""
    code = """
import resource
from bigtop.core.train import Samples
samples = Samples()
one = list(range(100))
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (1 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
refused = 0
for k in range(40000):
    try:
        samples.append(one, 1.5)
    except MemoryError:
        refused += 1
assert refused, "there was room enough"
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert len(samples) == 40000 - refused
assert all(position == (one, 1.5) for position in samples.positions())
"""
    ran = run_code(code)
    assert (ran.returncode, ran.stderr) == (0, "")


PEAKS = """
import sys
from bigtop.engines import make_engine
from bigtop.notation import Position
spec, memory, view = sys.argv[1:]
position = Position.parse(view)
def peak(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if name in line)
make_engine("ismcts:sims=10,hands=10").answer(position, 1, memory=2)
before = peak("VmPeak"), peak("VmHWM")
answer = make_engine(spec).answer(position, 1, memory=int(memory))
print(peak("VmPeak") - before[0], peak("VmHWM") - before[1], answer.sims)
"""


@linux_only
@pytest.mark.parametrize(
    ("spec", "memory"),
    [
        ("ismcts:sims=1000", 64),
        ("ismcts:sims=1000,trees=7", 64),
        ("ismcts:sims=1000,hands=20000", 64),
        ("ismcts:sims=40000", 2),  # full long before the end
    ],
)
def test_a_tree_search_keeps_to_its_memory(spec: str, memory: int) -> None:
    ran = run_code(PEAKS, spec, str(memory), VIEW)
    assert ran.stderr == ""
    reserved, used, sims = map(int, ran.stdout.split())
    assert sims == make_engine(spec).options["sims"]
    # the lists of Python and the allocator's own books come on top
    assert reserved <= memory * 1024 + 1536
    assert used <= memory * 1024 + 1536


def test_hands_that_need_more_than_the_memory_are_refused() -> None:
    position = Position.parse(VIEW)
    with pytest.raises(ValueError, match="at least 1 MB for 4 trees and 1 for 1024 hands"):
        make_engine("ismcts:hands=70000").answer(position, 1, memory=64)
    assert make_engine("ismcts:sims=9,hands=50").answer(position, 1, memory=2).sims == 9


# Ctrl-C ---------------------------------------------------------------------------------------


def heard_again() -> None:
    """Tests in the background of a shell inherit that interrupts are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    "args",
    [
        ["hint", VIEW, "--seed", "1", "--sims", MANY, "--threads", "2"],
        ["hint", VIEW, "--seed", "1", "--engine", "flat", "--sims", MANY],
        ["perft", FULL, "1000", "--divide"],
        ["match", "random", "planner", "--seed", "1", "--boards", MANY, "--workers", "1"],
        ["match", "bigtop", "planner", "--seed", "1", "--boards", MANY, "--workers", "1"],
        ["tournament", "random", "greedy", "planner", "--seed", "1", "--boards", MANY,
         "--workers", "2"],
        ["engine"],
    ],
    ids=lambda args: " ".join(args[:1] + args[5:7]),
)  # fmt: skip
def test_ctrl_c_ends_every_long_command(args: list[str]) -> None:
    with subprocess.Popen(
        [*PROCESS, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heard_again,
    ) as child:
        time.sleep(1.0)
        assert child.poll() is None
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does
        said, complaint = child.communicate(timeout=PATIENCE)
    assert (child.returncode, said) == (130, "")
    assert "Traceback" not in complaint


@pytest.fixture
def interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    """Ctrl-C, from whatever thread."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_held_to_the_end_of_the_block() -> None:
    done: list[object] = []

    def block() -> None:
        with held(lambda: done.append("at once")) as interrupted:
            done.append(interrupted.heard)
            signal.raise_signal(signal.SIGINT)
            done.append(interrupted.heard)

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done == [False, "at once", True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with held():
        pass  # nothing came: nothing is raised


@pytest.mark.usefixtures("interruptible")
def test_other_ways_to_take_an_interrupt_are_left_alone() -> None:
    caught = []

    def own(number: int, frame: FrameType | None) -> None:
        caught.append(number)

    for handler in (own, signal.SIG_IGN):
        signal.signal(signal.SIGINT, handler)
        with held() as block:
            assert signal.getsignal(signal.SIGINT) is handler
            signal.raise_signal(signal.SIGINT)
        assert not block.heard
    assert caught == [signal.SIGINT]


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_waiting_for_a_future() -> None:
    never: Future[int] = Future()
    threading.Timer(0.2, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        waited(never)
    never.set_result(7)
    assert waited(never) == 7


@pytest.mark.usefixtures("interruptible")
def test_a_training_hands_out_a_whole_lap_before_it_is_interrupted(tmp_path: Path) -> None:
    """Inside the pool an interrupt left a lock taken, and the training hung for good."""
    handed_out = 0

    class Pool(ThreadPoolExecutor):
        def submit(self, *args: Any, **options: Any) -> Future[Any]:
            nonlocal handed_out
            handed_out += 1
            interrupt()
            return super().submit(*args, **options)

    plan = Plan(players=2, seed=1, rounds=400, lap=200)
    begun = training.begin(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "ThreadPoolExecutor", Pool)
        with pytest.raises(KeyboardInterrupt):
            for _ in training.train(begun, 1, tmp_path / "checkpoint"):
                pass
    assert handed_out == plan.lap // training.PIECE
    assert training.load(tmp_path / "checkpoint").laps == begun.laps == 0


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("spec", ["flat", "ismcts", "bigtop"])
def test_a_search_on_threads_is_interrupted_and_leaves_nothing_behind(spec: str) -> None:
    engine, position = make_engine(spec, sims=200), Position.parse(VIEW)
    before = engine.answer(position, 1, threads=2)
    running = threading.active_count()
    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        make_engine(spec, sims=int(MANY)).answer(position, 1, threads=2)
    timer.join()
    assert threading.active_count() == running
    assert engine.answer(position, 1, threads=2).lines == before.lines


@pytest.mark.usefixtures("interruptible")
def test_learning_is_interrupted_in_its_loop() -> None:
    from bigtop.core.rng import Rng
    from bigtop.core.train import Learner

    samples = Samples()
    for k in range(3000):
        samples.append([k % 7, 20 + k % 5], 1.0)
    learner = Learner(2, Rng(1))
    for _ in range(7):
        twice = Samples()
        twice.extend(samples)
        samples.extend(twice)

    timer = threading.Timer(0.1, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):  # a step a sample: a pass takes seconds
        learner.learn(samples, Rng(1), batch=1, rate=1e-3, keep_mean=0.9)
    timer.join()
    assert 0 < learner.steps < len(samples)


# Fork and spawn -------------------------------------------------------------------------------

FAMILY = """
import multiprocessing, sys
from bigtop.engines import make_engine
from bigtop.notation import Position

VIEW = sys.argv[1]

def found(threads):
    asked = Position.parse(VIEW)
    specs = ("planner", "learned", "flat:sims=600", "ismcts:sims=600", "bigtop:sims=300")
    return [make_engine(spec).answer(asked, 3, threads=threads).lines for spec in specs]

if __name__ == "__main__":
    wanted = found(2)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            for threads in (1, 2):
                assert pool.apply(found, (threads,)) == wanted, (method, threads)
    assert found(2) == wanted
    print("alike")
"""


def test_children_answer_as_their_parent_that_used_threads(tmp_path: Path) -> None:
    file = tmp_path / "family.py"  # a spawned child imports it
    file.write_text(FAMILY)
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(file), VIEW],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("alike\n", "")


# Disks ----------------------------------------------------------------------------------------


@pytest.fixture
def closed_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing can be written."""
    if os.geteuid() == 0:  # may write everywhere but there
        if not Path("/sys/kernel").is_dir():
            pytest.skip("root may write everywhere")
        yield Path("/sys/kernel")
        return
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    yield folder
    folder.chmod(0o700)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    file = tmp_path / "games.jsonl"
    args = ["match", "random", "greedy", "--boards", "5", "--seed", "1", "--workers", "1"]
    assert CliRunner().invoke(bigtop, [*args, "--record", str(file)]).exit_code == 0
    return file


WRITES: dict[str, Callable[[Path, Path], list[str]]] = {
    "record": lambda file, record: [
        "match", "random", "greedy", "--boards", "5", "--seed", "1", "--workers", "1",
        "--record", str(file),
    ],
    "tournament record": lambda file, record: [
        "tournament", "random", "greedy", "--boards", "5", "--seed", "1", "--workers", "1",
        "--record", str(file),
    ],
    "training": lambda file, record: [
        "train", str(file), "--players", "2", "--rounds", "1000", "--seed", "1",
    ],
    "match plot": lambda file, record: [
        "match", "random", "greedy", "--boards", "5", "--seed", "1", "--workers", "1",
        "--plot", f"{file}.svg",
    ],
    "ratings plot": lambda file, record: ["rate", str(record), "--plot", f"{file}.png"],
}  # fmt: skip
"""Commands that write a file."""


@pytest.mark.parametrize("kind", WRITES)
def test_a_folder_without_the_right_to_write(kind: str, closed_folder: Path, record: Path) -> None:
    file = closed_folder / "fresh"
    result = CliRunner().invoke(bigtop, WRITES[kind](file, record))
    assert result.exit_code in (1, 2)
    line = one_line(result.stderr)
    assert "ermission denied" in line or "Operation not permitted" in line
    assert str(file) in line
    assert "internal error" not in line


@pytest.mark.parametrize("kind", ["training", "match plot", "ratings plot"])
def test_a_full_disk_leaves_no_half_file(kind: str, tmp_path: Path, record: Path) -> None:
    file = tmp_path / "fresh"
    ran = subprocess.run(
        [*PROCESS, *WRITES[kind](file, record)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
    )
    assert ran.returncode == 1
    assert os.strerror(27) in one_line(ran.stderr)  # EFBIG: what a limit says instead of ENOSPC
    assert [entry.name for entry in tmp_path.iterdir()] == [record.name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "args",
    [
        ["hint", VIEW, "--engine", "planner", "--seed", "1", "--json"],
        ["perft", FULL, "2"],
        ["match", "random", "greedy", "--boards", "3", "--seed", "1", "--workers", "1", "--json"],
    ],
    ids=lambda args: args[0],
)
def test_results_that_cannot_be_printed_are_a_failure(args: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [*PROCESS, *args], stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
            check=False,
        )  # fmt: skip
    assert ran.returncode == 1
    assert one_line(ran.stderr) == f"bigtop: {os.strerror(28)}"


def test_the_second_process_that_writes_a_record_is_refused(record: Path) -> None:
    before = record.read_bytes()
    run = Run("match", ("random", "greedy"), 4, "round", 1, False, "")
    with RecordFile(record, run):
        ran = subprocess.run(
            [*PROCESS, *WRITES["record"](record, record)],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, "")
    assert one_line(ran.stderr) == f"bigtop: {record}: another process is writing it"
    assert record.read_bytes() == before


@pytest.mark.parametrize("damage", ["one bit", "cut", "gone"])
def test_broken_weights_are_refused_before_a_move_is_chosen(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = bytearray((weights.FOLDER / "players2.weights").read_bytes())
    content[-1000] ^= 4
    if damage != "gone":
        size = len(content) if damage == "one bit" else len(content) // 2
        (tmp_path / "players2.weights").write_bytes(content[:size])
    monkeypatch.setattr(weights, "FOLDER", tmp_path)
    weights.shipped.cache_clear()
    try:
        result = CliRunner().invoke(bigtop, ["hint", VIEW, "--seed", "1"])
    finally:
        weights.shipped.cache_clear()
    assert (result.exit_code, result.stdout) == (1, "")
    line = one_line(result.stderr)
    assert str(tmp_path / "players2.weights") in line
    assert ("No such file" if damage == "gone" else "do not give the SHA-256") in line


# Nothing that is read is executed, and nothing is opened behind the user's back ---------------

FORBIDDEN_MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "socket",
    "ssl", "urllib", "http", "ftplib", "requests", "ctypes", "runpy", "code",
}  # fmt: skip
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "execfile"}
MAY_START_PROGRAMS = {"players.py"}
MAY_IMPORT_BY_NAME = {"main.py", "protocol.py"}
MAY_OPEN_NETWORKS = {"cluster.py"}


def sources() -> list[Path]:
    """The Python of the library and the command line."""
    folders = [Path(weights.__file__).parent, Path(cli_main.__file__).parent]
    return [file for folder in folders for file in sorted(folder.glob("*.py"))]


@pytest.mark.parametrize("file", sources(), ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_no_source_can_execute_what_it_reads(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text())):
        where = f"line {getattr(node, 'lineno', '?')}"
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [(node.module or "").partition(".")[0]]
        assert not FORBIDDEN_MODULES & set(names), where
        assert "subprocess" not in names or file.name in MAY_START_PROGRAMS
        assert "distributed" not in names or file.name in MAY_OPEN_NETWORKS
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert called not in FORBIDDEN_CALLS, where
        assert called not in ("os.system", "os.popen"), where
        if called.endswith("import_module"):
            assert file.name in MAY_IMPORT_BY_NAME, where
        if called in ("np.load", "numpy.load"):
            said = {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert said.get("allow_pickle") == "False", where
        if called.startswith("subprocess."):
            assert "shell" not in {word.arg for word in node.keywords}, where


GUARDED = """
import json, sys
from bigtop.cli.main import bigtop
SUSPECT = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn",
           "os.fork", "pty.", "pickle.", "marshal.loads", "urllib.", "ftplib.", "http.",
           "ctypes.")
seen, loading = [], 0

def guard(event, args):
    if event.startswith(SUSPECT):
        # Python itself reads its .pyc files so
        frame = sys._getframe(1)
        if event == "marshal.loads" and "importlib" in frame.f_code.co_filename:
            return
        # which libraries there are to load is asked at import, by NumPy
        importing = frame
        while importing and "importlib" not in importing.f_code.co_filename:
            importing = importing.f_back
        if event.startswith("ctypes.") and importing:
            return
        seen.append((event, repr(args)[:200]))

sys.addaudithook(guard)
try:
    bigtop.main(json.loads(sys.argv[1]))
except SystemExit as end:
    assert end.code == 0, end.code
print(json.dumps(seen), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "kind",
    ["hint", "hint on threads", "perft", "deal", "match", "tournament", "rate", "train"],
)
def test_no_network_is_opened_and_no_program_started(
    kind: str, tmp_path: Path, record: Path
) -> None:
    run = ["--boards", "5", "--seed", "1", "--workers", "1", "--record", str(tmp_path / "record")]
    args = {
        "hint": ["hint", VIEW, "--sims", "100", "--seed", "1"],
        "hint on threads": ["hint", VIEW, "--sims", "100", "--seed", "1", "--threads", "2"],
        "perft": ["perft", FULL, "2"],
        "deal": ["deal", "--players", "4"],
        "match": ["match", "bigtop:sims=20", "planner", "--players", "2", *run],
        "tournament": ["tournament", "random", "greedy", "planner", *run],
        "rate": ["rate", str(record), "--check"],
        "train": ["train", str(tmp_path / "w"), "--players", "2", "--rounds", "1", "--seed", "1"],
    }[kind]
    ran = run_code(GUARDED, json.dumps(args))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stderr.splitlines()[-1]) == []


HALF_AN_ANSWER = """
import os, sys, time
from pathlib import Path
from bigtop.runs import end_local_workers, local_workers

def half(done):
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:
        frame = frame.f_back
    # the length of a message of 1,000 bytes, and the first of them
    os.write(frame.f_locals["result_queue"]._writer.fileno(), b"\\0\\0\\3\\xe8x")
    Path(done).touch()
    time.sleep(600)

if __name__ == "__main__":
    pool = local_workers(1)()
    pool.submit(half, sys.argv[1])
    while not Path(sys.argv[1]).exists():
        time.sleep(0.01)
    pool.shutdown(wait=False, cancel_futures=True)
    end_local_workers()
    print("ended")
"""


def test_a_worker_that_is_ended_in_the_midst_of_an_answer_is_not_waited_for(
    tmp_path: Path,
) -> None:
    script = tmp_path / "half.py"
    script.write_text(HALF_AN_ANSWER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script, tmp_path / "done"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "ended\n")
