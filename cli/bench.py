"""`bigtop bench`: how fast this build is, and whether it plays as it should."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from bigtop.cli.common import (
    STATUS_INTERRUPTED,
    BadInput,
    complain,
    count,
    json_option,
    print_answer,
    threads_option,
)

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, " "))
ROW = "  {:<15} {:>7} {:<15} {:>8} {:>8}"


@click.command()
@threads_option
@click.option("--quick", is_flag=True, help="Fewer runs: less time, more uncertainty.")
@click.option("--signature", "only_signature", is_flag=True, help="The signature alone.")
@click.option(
    "--compare",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Ratios to an earlier measurement, a file that --json wrote; - for standard input.",
)
@json_option
def bench(
    threads: int, quick: bool, only_signature: bool, compare: str | None, as_json: bool
) -> None:
    """Speed on fixed positions of 2 to 5 players, and the signature.

    Each work is done several times with a fixed budget; shown are the median of the rates, the
    slowest and the fastest run. --compare adds the ratio of the medians, that of the fastest
    runs, which a busy machine changes least, and the range of the ratios of any two runs.

    The signature is a number that only a change of what is played or computed moves: it is the
    same on every machine, with every build, on any number of threads.

    BIGTOP_ISA=v1, v3 or v4 in the environment forces one build of the core; else the best that
    the machine can run is loaded. To measure a change, keep the output of `bigtop bench --json`
    from before it in a FILE, and run `bigtop bench --compare FILE` after it.

    \b
    Examples:
      bigtop bench --quick
      bigtop bench --signature --threads 2

    \b
    JSON: signature, recorded (what it should be), threads, runs, isa, isas (that can be loaded),
    python, machine, metrics: {name: {value, unit, min, max, runs}}, peak_memory: {value, unit},
    seconds; with --compare also compare: {same_signature, ratios: {name: {value, fastest, min,
    max}}, unlike: {name: [before, now]} (what else differs: threads, isa)}.
    """
    from bigtop.bench import Bench
    from bigtop.bench import compare as compared

    before = None if compare is None else _read(compare)
    measured = Bench(threads, quick, runs=0 if only_signature else None)
    progress = _Progress()
    try:
        measured.run(progress.tell)
    except KeyboardInterrupt:
        progress.close()
        click.echo(_text(measured.report(), None), err=True)
        raise click.exceptions.Exit(STATUS_INTERRUPTED) from None
    finally:
        progress.close()
    report = measured.report()
    comparison = None if before is None else compared(report, before)
    if as_json:
        print_answer(report if comparison is None else {**report, "compare": comparison})
    elif only_signature and comparison is None:
        print_answer(str(report["signature"]))
    else:
        print_answer(_text(report, comparison))
    if report["signature"] != report["recorded"]:
        complain(
            f"expected the recorded signature, {report['recorded']}: {report['signature']};"
            " this build or this source plays or computes something else"
        )


class _Progress:
    """What is being done, on stderr where that is a terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr is not None and sys.stderr.isatty()

    def tell(self, doing: str) -> None:
        if self.shown:
            click.echo(f"\r\x1b[K{doing}", err=True, nl=False)

    def close(self) -> None:
        if self.shown:
            click.echo("\r\x1b[K", err=True, nl=False)


def _read(name: str) -> dict[str, Any]:
    """The report in a file; `BadInput` says why there is none."""
    from bigtop.bench import LONGEST_REPORT, ReportError, read_report

    try:
        with click.open_file(name, "rb") as stream:
            data = stream.read(LONGEST_REPORT + 1)
        if len(data) > LONGEST_REPORT:
            raise ReportError(f"expected at most {LONGEST_REPORT} bytes")
        return read_report(data.decode("utf-8", "backslashreplace"))
    except OSError as error:
        raise BadInput(f"--compare {name}: {error.strerror}") from error
    except ReportError as error:
        raise BadInput(
            f"--compare {name}: not what 'bigtop bench --json' prints: {error}"
        ) from error


def _text(report: Mapping[str, Any], comparison: Mapping[str, Any] | None) -> str:
    """A report for people."""
    isa, isas = report["isa"], report["isas"]
    choice = f", of {' '.join(isas)} (BIGTOP_ISA forces one)" if len(isas) > 1 else ""
    lines = [
        f"core {isa}{choice}; {report['machine']}, Python {report['python']}",
        f"{count(report['threads'], 'thread')}, {count(report['runs'], 'run')} of each work,"
        f" {report['seconds']:.1f} s",
        "",
    ]
    ratios = {} if comparison is None else comparison["ratios"]
    if report["metrics"]:
        head = ROW.format("", "median", "", "slowest", "fastest")
        lines.append((head + ("  now/before  fastest  any two runs" if ratios else "")).rstrip())
    for name, metric in report["metrics"].items():
        factor, prefix = next(p for p in PREFIXES if metric["value"] >= p[0] or p[0] == 1)
        value, low, high = (f"{metric[key] / factor:#.4g}" for key in ("value", "min", "max"))
        line = ROW.format(name, value, f"{prefix} {metric['unit']}", low, high)
        if name in ratios:
            ratio = ratios[name]
            line += f"  {ratio['value']:>10.3f}  {ratio['fastest']:>7.3f}"
            line += f"  {ratio['min']:.2f} to {ratio['max']:.2f}"
        lines.append(line.rstrip())
    memory, signature = report["peak_memory"], report["signature"]
    lines.append(ROW.format("peak memory", f"{memory['value']:.0f}", "  MB", "", "").rstrip())
    if signature is None:
        said = "not known yet"
    elif signature == report["recorded"]:
        said = f"{signature} (as recorded)"
    else:
        said = f"{signature} (NOT as recorded: {report['recorded']})"
    lines.append(f"  {'signature':<15} {said}")
    if comparison is not None:
        same = "the same" if comparison["same_signature"] else "NOT the same"
        lines += ["", f"The signature is {same} as before."]
        for name, (was, now) in comparison["unlike"].items():
            lines.append(f"Not like for like: {name} was {was}, is {now}.")
    return "\n".join(lines)
