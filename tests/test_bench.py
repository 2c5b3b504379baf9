"""`bigtop bench`: the signature moves with behaviour and with nothing else; reports, comparisons.

Nothing here asserts how fast something is."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from helpers import CHECKED, sized

from bigtop import bench
from bigtop.cli.main import bigtop as command
from bigtop.core import ISA, ISAS
from bigtop.core.policy import play_rounds
from bigtop.engines import ENGINES, Option

computed_elsewhere = pytest.mark.skipif(
    CHECKED, reason="minutes on the checked build, whose signature .ci/run compares once"
)
PROCESS = [sys.executable, "-c", "from bigtop.cli.main import main; main()", "bench"]
SIMS = sized(bench.SIGNATURE_SIMS, 12)
SEARCHES = bench.searching()


@functools.cache
def signature() -> int:
    return bench.signature(sims=SIMS)


# The signature --------------------------------------------------------------------------------


@computed_elsewhere
def test_the_signature_is_the_recorded_one() -> None:
    found = bench.signature()
    assert found == bench.SIGNATURE, (
        f"this source plays or computes something else than before: its signature is {found}, the "
        f"recorded one {bench.SIGNATURE}. If that is what the change is for, put the new number "
        "into src/bigtop/bench.py and say in the commit message and in CHANGELOG.md what is "
        "different; else it is a fault."
    )


@computed_elsewhere
@pytest.mark.parametrize("threads", [2, 4])
def test_the_signature_is_the_same_on_any_number_of_threads(threads: int) -> None:
    assert bench.signature(threads, sims=SIMS) == signature()


@computed_elsewhere
def test_the_signature_is_the_same_in_another_process() -> None:
    """With other hashes of strings, and other threads, too."""
    ran = subprocess.run(
        [*PROCESS, "--signature", "--threads", "4"],
        env=os.environ | {"PYTHONHASHSEED": "4"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"{bench.SIGNATURE}\n"


def test_the_signature_is_a_number_that_json_keeps() -> None:
    assert type(bench.SIGNATURE) is int
    assert 0 < bench.SIGNATURE < 2**53


def halved(option: Option) -> str:
    """Another value of an option than its default."""
    value = option.parse(option.default)
    if isinstance(value, int):
        return str(value // 2 if value else 1)
    return str(value / 2)


OPTIONS = [
    (name, option)
    for name, info in ENGINES.items()
    for option in info.options
    if option.name not in ("sims", "time")
]


@computed_elsewhere
@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=lambda item: getattr(item, "name", item))
def test_the_signature_changes_with_the_options_of_an_engine(name: str, option: Option) -> None:
    assert of_engine(f"{name}:{option.name}={halved(option)}") != of_engine(name)


@functools.cache
def of_engine(spec: str) -> int:
    return bench.signature(specs=[spec], sims=250)  # enough for flat to have arms to drop


@computed_elsewhere
def test_the_signature_changes_with_the_budget_and_the_engines() -> None:
    found = [bench.signature(specs=[name], sims=sims) for name in SEARCHES for sims in (20, 60)]
    found += [bench.signature(specs=specs) for specs in ([], ["random"], ["random", "greedy"])]
    assert len(set(found)) == len(found)


@computed_elsewhere
def test_the_signature_changes_with_the_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole rounds in the core, as if its formula were another one."""
    before = bench.signature(specs=[])
    monkeypatch.setattr(
        bench,
        "play_rounds",
        lambda policies, rng, rounds: play_rounds(policies, rng, rounds, [1.5] * len(policies)),
    )
    assert bench.signature(specs=[]) != before


# What is measured -----------------------------------------------------------------------------


def test_positions_are_of_all_players_and_stages() -> None:
    found = bench.searched()
    assert [(each.players, each.stage) for each in found] == [
        (players, stage) for players in (2, 3, 4, 5) for stage in bench.STAGES
    ]
    for each in found:
        position = each.position
        assert position.players == each.players
        assert position.flipping == (each.stage == "flip")
        assert not position.is_over
        assert position == position.view(position.turn), "nothing hidden is in it"
        assert len(position.legal_moves()) > 1
    held = [len(each.position.round.hand(each.position.turn)) for each in found]
    for players in range(4):
        flip, opening, middle, end = held[4 * players : 4 * players + 4]
        assert flip >= opening
        assert min(opening, middle) > 0
        assert end > 0
    assert len({str(each.position) for each in found}) == len(found)


def test_all_engines_that_search_are_measured() -> None:
    names = [name for work in bench.WORKS for name in work.metrics]
    assert len(set(names)) == len(names)
    assert set(SEARCHES) <= set(names)
    assert {
        "moves_listed", "moves_drawn", "random_moves", "random_rounds", "planner_rounds", "samples",
    } == set(names) - set(SEARCHES)  # fmt: skip


@pytest.mark.parametrize("work", bench.WORKS, ids=lambda work: "+".join(work.metrics))
def test_budgets_are_fixed(work: bench.Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same amount of work in every run; searches do the same on more threads, loops more."""
    monkeypatch.setattr(bench, "SEARCH_SIMS", 40)
    bench.searched()  # it is kept, so it must not be made of these players alone
    monkeypatch.setattr(bench, "PLAYERS", (5,))
    counts = work.run(1)
    assert len(counts) == len(work.metrics)
    assert all(count > 0 for count in counts)
    more = work.run(2)
    if set(work.metrics) <= set(SEARCHES):
        assert more == counts
    elif "random_moves" not in work.metrics:
        assert more == tuple(2 * count for count in counts)
    else:  # other rounds have other lengths
        assert more[1] == 2 * counts[1]


# The command ----------------------------------------------------------------------------------


class Amounts:
    """Works that do nothing, each counted."""

    def __init__(self) -> None:
        self.done = 0

    def run(self, threads: int) -> bench.Counts:
        self.done += 1
        return (1_000_000 * threads,)


@pytest.fixture
def amounts(monkeypatch: pytest.MonkeyPatch) -> Amounts:
    """A measurement of next to nothing, so that the command answers at once."""
    works = Amounts()
    monkeypatch.setattr(
        bench,
        "WORKS",
        (bench.Work({"one": "moves/s"}, works.run), bench.Work({"two": "rounds/s"}, works.run)),
    )
    monkeypatch.setattr(bench, "signature", lambda threads: bench.SIGNATURE)
    return works


def run(*args: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(command, ["bench", *args], input=stdin, catch_exceptions=False)


def keys(*args: str) -> dict[str, Any]:
    result = run(*args, "--json")
    assert result.exit_code == 0, result.output
    (line,) = result.stdout.splitlines()
    return dict(json.loads(line))


@pytest.mark.parametrize(
    ("args", "runs"), [([], bench.RUNS[False]), (["--quick"], bench.RUNS[True])]
)
def test_json_has_the_fixed_keys(args: list[str], runs: int, amounts: Amounts) -> None:
    report = keys(*args, "--threads", "2")
    assert list(report) == [
        "signature", "recorded", "threads", "runs", "isa", "isas", "python", "machine", "metrics",
        "peak_memory", "seconds",
    ]  # fmt: skip
    assert report["signature"] == report["recorded"] == bench.SIGNATURE
    assert (report["threads"], report["runs"]) == (2, runs)
    assert (report["isa"], report["isas"]) == (ISA, list(ISAS))
    assert amounts.done == 2 * runs
    assert {name: metric["unit"] for name, metric in report["metrics"].items()} == {
        "one": "moves/s",
        "two": "rounds/s",
    }
    for metric in report["metrics"].values():
        assert list(metric) == ["value", "unit", "min", "max", "runs"]
        assert 0 < metric["min"] <= metric["value"] <= metric["max"]
        assert metric["runs"] == runs
    assert report["peak_memory"]["unit"] == "MB"
    assert 1 < report["peak_memory"]["value"] < 100_000


def test_text_says_which_build_and_how_sure_the_figures_are(amounts: Amounts) -> None:
    text = run("--quick").stdout
    first, second, *_ = text.splitlines()
    assert first.startswith(f"core {ISA}")
    assert ("BIGTOP_ISA" in first) == (len(ISAS) > 1)
    assert second.startswith("1 thread, 3 runs of each work, ")
    for word in ("median", "slowest", "fastest", "one", "two", "peak memory"):
        assert f" {word} " in text.replace("\n", " \n")
    assert f"signature       {bench.SIGNATURE} (as recorded)" in text


def test_only_the_signature(amounts: Amounts) -> None:
    result = run("--signature")
    assert (result.exit_code, result.output) == (0, f"{bench.SIGNATURE}\n")
    report = keys("--signature")
    assert report["signature"] == bench.SIGNATURE
    assert report["metrics"] == {}
    assert amounts.done == 0


def test_another_signature_than_the_recorded_one_is_told(
    amounts: Amounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "signature", lambda threads: 123)
    result = run("--signature")
    assert (result.exit_code, result.stdout) == (0, "123\n")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"bigtop: expected the recorded signature, {bench.SIGNATURE}: 123; ")
    assert f"123 (NOT as recorded: {bench.SIGNATURE})" in run("--quick").stdout


@pytest.mark.parametrize("at", ["signature", "two"])
def test_an_interrupt_tells_what_is_known(
    at: str, amounts: Amounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(threads: int) -> Any:
        raise KeyboardInterrupt

    if at == "signature":
        monkeypatch.setattr(bench, "signature", interrupted)
    else:
        works = bench.WORKS[0], bench.Work({"two": "rounds/s"}, interrupted)
        monkeypatch.setattr(bench, "WORKS", works)
    result = run("--json")
    assert (result.exit_code, result.stdout) == (130, "")
    assert ("not known yet" in result.stderr) == (at == "signature")
    assert ("moves/s" in result.stderr) == (at == "two")
    assert "rounds/s" not in result.stderr


def test_ctrl_c_ends_with_130() -> None:
    child = subprocess.Popen(
        [*PROCESS, "--threads", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # tests in the background of a shell inherit that interrupts are ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    said, complaint = child.communicate(timeout=60)
    assert (child.returncode, said) == (130, "")
    assert "Traceback" not in complaint
    assert "  signature" in complaint


# Comparisons ----------------------------------------------------------------------------------


def report(signature: int = 5, **metrics: Any) -> dict[str, Any]:
    return {"signature": signature, "threads": 1, "isa": "v1", "metrics": metrics}


def rate(value: float, least: float, most: float, unit: str = "moves/s") -> dict[str, Any]:
    return {"value": value, "unit": unit, "min": least, "max": most, "runs": 3}


def test_ratios_are_now_over_before() -> None:
    before = report(a=rate(10, 8, 16), gone=rate(1, 1, 1), b=rate(1, 1, 1, "rounds/s"))
    now = report(a=rate(20, 16, 24), new=rate(1, 1, 1), b=rate(1, 1, 1)) | {"threads": 2}
    assert bench.compare(now, before) == {
        "same_signature": True,
        "ratios": {"a": {"value": 2.0, "fastest": 1.5, "min": 1.0, "max": 3.0}},
        "unlike": {"threads": [1, 2]},
    }
    assert bench.compare(report(6), before | {"isa": "v3"}) == {
        "same_signature": False,
        "ratios": {},
        "unlike": {"isa": ["v3", "v1"]},
    }


def test_least_keys_are_enough_to_be_compared() -> None:
    text = '{"signature": 5, "threads": 1, "metrics": {"a": {"value": 5, "unit": "moves/s"}}}'
    compared = bench.compare(report(a=rate(10, 5, 20)), bench.read_report(text))
    assert compared["ratios"] == {"a": {"value": 2.0, "fastest": 4.0, "min": 1.0, "max": 4.0}}


def test_a_measurement_is_compared_with_an_earlier_one(amounts: Amounts, tmp_path: Path) -> None:
    file = tmp_path / "before.json"
    before = run("--quick", "--json").stdout
    file.write_text(before, "utf-8")
    compared = keys("--quick", "--compare", str(file))["compare"]
    assert compared["same_signature"] is True
    assert compared["unlike"] == {}
    assert list(compared["ratios"]) == ["one", "two"]
    for ratio in compared["ratios"].values():
        assert 0 < ratio["min"] <= ratio["value"] <= ratio["max"]
    text = run("--quick", "--compare", str(file)).stdout
    assert "now/before" in text
    assert "The signature is the same as before." in text
    assert "Not like" not in text
    other = json.loads(before) | {"signature": 1, "threads": 3}
    result = run("--quick", "--compare", "-", stdin=json.dumps(other))
    assert result.exit_code == 0
    assert "The signature is NOT the same as before." in result.stdout
    assert "Not like for like: threads was 3, is 1." in result.stdout
    alone = run("--signature", "--compare", "-", stdin=json.dumps(other)).stdout
    assert "The signature is NOT the same as before." in alone


GOOD = report(a=rate(10, 8, 16))
BAD = {
    "empty": "",
    "no JSON": "core v4",
    "a list": "[]",
    "nested": "[" * 100_000,
    "no signature": json.dumps({"threads": 1, "metrics": {}}),
    "a text for signature": json.dumps(GOOD | {"signature": "5"}),
    "a truth for threads": json.dumps(GOOD | {"threads": True}),
    "too many digits": '{"signature": ' + "9" * 5000 + "}",
    "a strange build": json.dumps(GOOD | {"isa": "\x1b[31m"}),
    "a list for metrics": json.dumps(GOOD | {"metrics": []}),
    "a number for a metric": json.dumps(report(a=5)),
    "no unit": json.dumps(report(a={"value": 5})),
    "no value": json.dumps(report(a={"unit": "moves/s"})),
    "nothing": json.dumps(report(a=rate(0, 0, 0))),
    "less than nothing": json.dumps(report(a=rate(-1, -1, -1))),
    "not a number": json.dumps(report(a=rate(float("nan"), 1, 1))),
    "infinite": json.dumps(report(a=rate(1, 1, float("inf")))),
    "too large": json.dumps(report(a=rate(1, 1, 10**400))),
    "too small": json.dumps(report(a=rate(1e-320, 1, 1))),
    "a long name": json.dumps(report(**{"\n" * 999: 1})),
    "too long": json.dumps(GOOD) + " " * bench.LONGEST_REPORT,
    "no text": "\udcff",
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_that_is_no_report_is_refused(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.Bench, "run", lambda *args: pytest.fail("measured all the same"))
    file = tmp_path / "file"
    file.write_bytes(BAD[case].encode("utf-8", "surrogateescape"))
    result = run("--compare", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"bigtop: --compare {file}: not what 'bigtop bench --json' prints: exp")
    assert len(line) < 300
    assert line.isprintable()


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for file, why in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        result = run("--compare", str(file))
        assert (result.exit_code, result.stdout) == (2, "")
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"bigtop: --compare {file}: {why}")


def test_bad_options_are_refused() -> None:
    for args in (["--threads", "0"], ["--runs", "3"], ["word"], ["--compare"]):
        result = run(*args)
        assert (result.exit_code, result.stdout) == (2, "")
        assert len(result.stderr.splitlines()) == 1
