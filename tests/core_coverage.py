"""Which lines of the compiled core were executed, counted on the build for it.

    BIGTOP_COVERAGE=1 python setup.py -q build_ext --inplace --force
    python -m pytest
    python tests/core_coverage.py

That build is the checked one. Cython writes a call of its line tracing in front of every
statement, in `.pyx` and in inline functions of a `.pxd`, with the GIL or without it: these calls
say which lines there are. A Python tracer behind them would take the GIL for each line of a
playout, and days for the tests; so they are compiled to nothing, and the C compiler counts how
often what follows each of them was reached (gcov). A line of a `.pxd` is in every module that
uses it: it is covered if one of them reached it.

What cannot be seen so: `bits.h` and `network.h`, which are no Cython; parts of a line (a line is
reached or not, also one with two conditions); functions that no module uses; and processes that
are killed, which write no counts.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COUNTS = ROOT / "build" / "coverage"
CORE = ROOT / "cython_core"

PLACE = re.compile(r'^\s*/\* "([^"]+)":\d+$')
EXIT = re.compile(r"^\s*/\* function exit code \*/$")
TRACED = re.compile(r"^\s*__Pyx_TraceLine\((\d+),")


def statements(source: Path) -> list[tuple[range, str, int]]:
    """The pieces of a C file that belong to one statement each: their lines, the Cython file and
    the line there."""
    starts: list[tuple[int, str, int]] = []  # a line 0 begins what is of no statement
    file = ""
    for number, text in enumerate(source.read_text().splitlines(), 1):
        if place := PLACE.match(text):
            file = Path(place[1]).name
            starts.append((number, file, 0))
        elif traced := TRACED.match(text):
            starts.append((number, file, int(traced[1])))
        elif EXIT.match(text):
            starts.append((number, file, 0))
    ends = [start[0] for start in starts[1:]]
    pieces = zip(starts, ends, strict=False)
    return [(range(at, end), name, line) for (at, name, line), end in pieces if line]


def reached(notes: Path) -> dict[int, int]:
    """How often each line of the C file of a module was reached."""
    said = subprocess.run(
        ["gcov", "--json-format", "--stdout", str(notes)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if said.returncode:  # counts of an earlier build, for one
        sys.exit(f"{said.stderr.decode().strip()}\n(remove build/coverage/**/*.gcda, test again)")
    counts: dict[int, int] = defaultdict(int)
    for file in json.loads(said.stdout)["files"]:
        if Path(file["file"]).stem == notes.stem:
            for line in file["lines"]:
                counts[line["line_number"]] = max(counts[line["line_number"]], line["count"])
    return counts


def ranges(numbers: list[int]) -> str:
    """Ascending numbers, neighbours as a range."""
    breaks = [at for at, (a, b) in enumerate(pairwise(numbers), 1) if b > a + 1]
    parts = [numbers[a:b] for a, b in pairwise([0, *breaks, len(numbers)])]
    return " ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else f"{p[0]}" for p in parts if p)


def main() -> int:
    """Print a line a file with what was not reached; the status is 1 below 90%."""
    covered: dict[str, dict[int, bool]] = defaultdict(lambda: defaultdict(bool))
    for notes in sorted(COUNTS.rglob("*.gcno")):
        counts = reached(notes)
        source = ROOT / "build" / "cython" / "coverage" / f"{notes.stem}.c"
        for piece, file, line in statements(source):
            first = next((number for number in piece if number in counts), None)
            if first is not None and (CORE / file).exists():
                covered[file][line] |= counts[first] > 0
    if not covered:
        print(f"expected a build with BIGTOP_COVERAGE=1 in {COUNTS}", file=sys.stderr)
        return 2
    all_lines = all_reached = 0
    for file, lines in sorted(covered.items()):
        hit = sum(lines.values())
        all_lines, all_reached = all_lines + len(lines), all_reached + hit
        missed = ranges(sorted(line for line, was in lines.items() if not was))
        print(f"{file:14} {len(lines):5} lines {hit / len(lines):7.1%}  {missed}".rstrip())
    print(f"{'all':14} {all_lines:5} lines {all_reached / all_lines:7.1%}")
    return int(all_reached < 0.9 * all_lines)


if __name__ == "__main__":
    sys.exit(main())
