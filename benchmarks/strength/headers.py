"""What the first lines of weights files say of the trainings that made them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bigtop.weights import FOLDER, read_header


class Made(NamedTuple):
    """A training, as the header of its weights has it."""

    players: int
    seed: int
    minutes: float
    rounds: int
    positions: int
    seconds: float
    curve: list[dict[str, float]]
    """Strength on the way: rounds, samples, seconds, margin, margin_se, win."""


def read(file: Path) -> Made:
    header, _ = read_header(file, file.read_bytes())
    made: Any = header["made"]
    return Made(
        made["players"],
        made["seed"],
        made["minutes"],
        made["rounds"],
        made["samples"],
        made["seconds"],
        made["curve"],
    )


def shipped_files() -> Sequence[Path]:
    """The files of the weights that ship, by number of players."""
    return sorted(FOLDER.glob("players*.weights"))
