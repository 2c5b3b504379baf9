"""What a random move costs: instructions by function, cycles, and what mispredictions take.

    python benchmarks/instructions.py count   # needs valgrind and a build with BIGTOP_LINES=1
    python benchmarks/instructions.py cycles  # needs a C compiler; fastest of many short runs
    python benchmarks/instructions.py kinds   # how often which kind of move is drawn

Each prints Markdown tables. `docs/SPEED.md` says what follows from them.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click

from bigtop.core import ISA, policy
from bigtop.core.policy import choose, play_rounds
from bigtop.core.rng import Rng
from bigtop.core.state import deal

PLAYERS = (2, 3, 4, 5)
CORE = Path(__file__).parents[1] / "cython_core"
ROUNDS = {2: 8_000, 3: 8_000, 4: 1_200, 5: 800}
"""Some 100,000 moves for each number of players."""
REPEATS = 300
"""How often the same hundred moves are played in a run of `cycles`."""
KINDS = ("Show", "Scout", "Scout & Show", "pass")

PLAY = """
import sys
from bigtop.core.policy import play_rounds
from bigtop.core.rng import Rng
play_rounds(["random"] * int(sys.argv[1]), Rng(2), int(sys.argv[2]))
"""

CALIBRATION = """
#include "bits.h"
#define TEN(x) x x x x x x x x x x

/* 100 n rotations, each of what the one before gave: a cycle each */
void chain(long n)
{
    uint64_t a = 1;
    while (n--) __asm__ volatile(TEN(TEN("ror $1,%0;")) : "+r"(a));
}

/* n branches, each on the next of so many bits, then on the first again */
long branches(long n, const uint8_t *bits, long period)
{
    long found = 0, at = 0;
    while (n--) {
        if (bits[at]) __asm__ volatile("add $3,%0" : "+r"(found));
        else __asm__ volatile("xor $5,%0" : "+r"(found));
        if (++at == period) at = 0;
    }
    return found;
}

/* n times what no move can do without, with no branch: the set of the move before, the hand's
   neighbours and what beats the set, how many moves that makes, a random one of them, the card that
   it shows, the row without it (a card from the other end comes in), whose turn it is */
long least(long n, int players)
{
    static uint8_t rows[5][64];
    uint8_t set[16] = {0x12};
    uint64_t counter = 1, low;
    int seat, i;
    for (seat = 0; seat < 5; seat++)
        for (i = 0; i < 12; i++) rows[seat][i] = (uint8_t)((1 + (7 * i + seat) % 10) << 4 | 1);
    for (seat = 0; n--; seat = seat + 1 == players ? 0 : seat + 1) {
        uint8_t *row = rows[seat];
        bigtop_links links = bigtop_row_links(row, 12);
        uint64_t longer = links.equal | links.up | links.down;
        uint64_t above = bigtop_row_above(row, 12, set[0] >> 4) | 1;
        int shows = bigtop_popcount(above), total = 52 + shows + bigtop_popcount(longer);
        uint64_t z = counter += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        int rank = (int)bigtop_mul(z ^ (z >> 31), (uint64_t)total, &low);
        int first = bigtop_select(above, rank < shows ? rank : 0);
        uint8_t card = row[first];
        memcpy(&low, row + first, 8);
        low &= 0xff;
        memcpy(set, &low, 8);
        bigtop_row_close(row, 12, first, 1);
        row[11] = card;
    }
    return set[0];
}
"""


@cache
def moves_of(players: int, rounds: int) -> int:
    moves: int = play_rounds(["random"] * players, Rng(2), rounds)["moves"]
    return moves


@click.group(help=__doc__)
def main() -> None:
    pass


# Instructions -----------------------------------------------------------------------------------

Costs = Counter[str]
"""Instructions, branches and mispredicted ones, by `event function`, and in all by `event`."""


def counted(players: int, rounds: int, folder: Path) -> Costs:
    """What callgrind counts in a process that plays so many rounds."""
    out = folder / "callgrind.out"
    command = "valgrind --tool=callgrind --branch-sim=yes --dump-instr=yes --compress-pos=no"
    command += f" --compress-strings=no --callgrind-out-file={out}"
    subprocess.run(
        [*command.split(), sys.executable, "-c", PLAY, str(players), str(rounds)],
        env={**os.environ, "BIGTOP_ISA": ISA, "PYTHONHASHSEED": "0"},
        check=True,
        capture_output=True,
    )
    ours = Path(policy.__file__).name
    costs: Costs = Counter()
    by_address: dict[str, list[int]] = {}
    inside = called = False
    for line in out.open():
        if line.startswith("ob="):
            inside = line.rstrip().endswith(ours)
        elif line.startswith("calls="):
            called = True  # the next line is what the callee cost
        elif line.startswith("0x"):
            address, _, *numbers = line.split()
            if not called:
                ir, conditional, missed, indirect, lost = map(
                    int, numbers + ["0"] * (5 - len(numbers))
                )
                found = [ir, conditional + indirect, missed + lost]
                costs.update(dict(zip(("I", "B", "M"), found, strict=True)))
                if inside:
                    total = by_address.setdefault(address, [0, 0, 0])
                    by_address[address] = [a + b for a, b in zip(total, found, strict=True)]
            called = False
    for address, name in names(list(by_address)).items():
        for event, number in zip("IBM", by_address[address], strict=True):
            costs[f"{event} {name}"] += number
    return costs


def names(addresses: list[str]) -> dict[str, str]:
    """The innermost function of the core's source at each address, inlined ones too."""
    asked = subprocess.run(
        ["addr2line", "-a", "-i", "-f", "-e", policy.__file__],
        input="\n".join(addresses),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found: dict[str, str] = {}
    address = ""
    for line in asked:
        if line.startswith("0x"):
            address = hex(int(line, 16))
        elif address not in found:
            match = re.fullmatch(r"(?:__pyx_f_6bigtop_4core_\d+[a-z]+?|bigtop)_(\w+)", line)
            if match:
                found[address] = match[1]
            elif "play_rounds" in line:
                found[address] = "play_rounds"
    return {each: found.get(hex(int(each, 16)), "?") for each in addresses}


@main.command()
@click.option("--least", type=float, default=1.5, show_default=True, help="instructions of a row")
def count(least: float) -> None:
    """Instructions, branches and mispredictions a move, as valgrind simulates them."""
    per_move: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        start = counted(5, 0, Path(folder))
        for players in PLAYERS:
            rounds = ROUNDS[players]
            costs = counted(players, rounds, Path(folder))
            costs.subtract(start)
            moves = moves_of(players, rounds)
            per_move[players] = {name: number / moves for name, number in costs.items()}
    click.echo(f"core {ISA}\n")
    click.echo(f"| a move, {ISA} | " + " | ".join(f"{p} players" for p in PLAYERS) + " |")
    click.echo("| --- |" + " --- |" * len(PLAYERS))
    titles = {"I": "instructions", "B": "branches", "M": "mispredicted (simulated)"}
    for event, title in titles.items():
        cells = (f"{per_move[p][event]:.1f}" for p in PLAYERS)
        click.echo(f"| {title} | " + " | ".join(cells) + " |")
    for event, limit in (("I", least), ("M", 0.03)):
        click.echo(f"\n| {titles[event]}, in | " + " | ".join(f"{p}" for p in PLAYERS) + " |")
        click.echo("| --- |" + " --- |" * len(PLAYERS))
        rows = sorted({n for c in per_move.values() for n in c if n.startswith(event + " ")})
        rows.sort(key=lambda name: -sum(c.get(name, 0) for c in per_move.values()))
        for name in rows:
            numbers = [per_move[p].get(name, 0) for p in PLAYERS]
            if max(numbers) >= limit:
                digits = 1 if event == "I" else 2
                cells = (f"{number:.{digits}f}" for number in numbers)
                click.echo(f"| `{name[2:]}` | " + " | ".join(cells) + " |")


# Cycles -----------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    """The processor time that it takes."""
    began = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - began) / 1e9


def play(players: int, rounds: int, times: int = 1) -> float:
    """Play the same rounds so many times; return the seconds that it took."""
    policies, rng = ["random"] * players, Rng(2)

    def repeat() -> None:
        for _ in range(times):
            play_rounds(policies, rng, rounds)

    return seconds(repeat)


def calibration(folder: str) -> ctypes.CDLL:
    source, library = Path(folder) / "calibration.c", Path(folder) / "calibration.so"
    source.write_text(CALIBRATION)
    subprocess.run(
        ["cc", "-O2", "-march=native", "-shared", "-fPIC", f"-I{CORE}", source, "-o", library],
        check=True,
    )
    return ctypes.CDLL(str(library))


@main.command()
@click.option("--runs", type=click.IntRange(min=1), default=200, show_default=True)
def cycles(runs: int) -> None:
    """Cycles a move: of fresh rounds, and of rounds so often repeated that each branch is known.

    A cycle is the time of one rotation in a chain of rotations. The pieces are some milliseconds
    long and take turns, so that what else the machine does hits all of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = calibration(folder)
    rng = Rng(1)
    bits = bytes(rng.next64() >> 63 for _ in range(1 << 17))
    chain = unknown = known = least = math.inf
    fresh = dict.fromkeys(PLAYERS, math.inf)
    again = dict.fromkeys(PLAYERS, math.inf)
    calls = dict.fromkeys(PLAYERS, math.inf)
    for _ in range(runs):
        chain = min(chain, seconds(lambda: library.chain(40_000)) / 4e6)
        unknown = min(unknown, seconds(lambda: library.branches(1 << 17, bits, 1 << 17)))
        known = min(known, seconds(lambda: library.branches(1 << 17, bits, 8)))
        least = min(least, seconds(lambda: library.least(100_000, 5)) / 100_000)
        for players in PLAYERS:
            many, few = ROUNDS[players], max(1, ROUNDS[players] // 1_000)
            fresh[players] = min(fresh[players], play(players, many) / moves_of(players, many))
            calls[players] = min(calls[players], play(players, 0, REPEATS))
            again[players] = min(again[players], play(players, few, REPEATS))
    for players in PLAYERS:
        few = max(1, ROUNDS[players] // 1_000)
        again[players] = (again[players] - calls[players]) / REPEATS / moves_of(players, few)
    penalty = (unknown - known) / (1 << 17) / chain * 2
    click.echo(f"core {ISA}; {1e-9 / chain:.2f} GHz; {penalty:.1f} cycles a misprediction\n")
    click.echo(f"what no move can do without, and no branch: {least / chain:.1f} cycles\n")
    click.echo(f"| cycles a move, {ISA} | " + " | ".join(f"{p} players" for p in PLAYERS) + " |")
    click.echo("| --- |" + " --- |" * len(PLAYERS))
    for title, found in (("fresh rounds", fresh), ("repeated rounds", again)):
        cells = (f"{found[p] / chain:.0f}" for p in PLAYERS)
        click.echo(f"| {title} | " + " | ".join(cells) + " |")
    cells = (f"{(fresh[p] - again[p]) / chain / penalty:.1f}" for p in PLAYERS)
    click.echo("| mispredictions, from the difference | " + " | ".join(cells) + " |")


# Kinds ------------------------------------------------------------------------------------------


@main.command()
@click.option("--rounds", type=click.IntRange(min=1), default=200, show_default=True)
def kinds(rounds: int) -> None:
    """How often which kind of move is drawn, and how often one is wrong who knows the position, but
    not the random number, and guesses the likeliest kind."""
    click.echo("| players | moves a round | " + " | ".join(KINDS) + " | wrong guesses |")
    click.echo("| --- |" + " --- |" * (len(KINDS) + 2))
    for players in PLAYERS:
        drawn: Counter[int] = Counter()
        wrong = 0.0
        for number in range(rounds):
            rng = Rng(2).split(number)
            round_ = deal(players, rng)
            while not round_.end:
                if round_.start < 0:
                    there = Counter(code >> 20 for code in round_.moves())
                    wrong += 1 - max(there.values()) / there.total()
                    code = choose(round_, "random", rng)
                    drawn[code >> 20] += 1
                else:
                    code = choose(round_, "random", rng)
                round_.play(code)
        moves = drawn.total()
        cells = " | ".join(f"{drawn[kind] / moves:.1%}" for kind in range(len(KINDS)))
        click.echo(f"| {players} | {moves / rounds:.1f} | {cells} | {wrong / moves:.2f} |")


if __name__ == "__main__":
    main()
