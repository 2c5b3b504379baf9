"""Weights of the learned evaluation as files, and those that ship.

A file is one line of JSON and then the numbers of the network as the core has them, little
end first. The line names what the numbers are for and their SHA-256: a file that was cut,
damaged or made for other inputs is refused before anything is played with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from bigtop.core.evaluate import INPUTS_VERSION, Network

FORMAT = "bigtop-weights"
FOLDER = Path(__file__).parent / "learned"
HEADER_LIMIT = 100_000


class WeightsError(ValueError):
    """A file that holds no weights that can be used; the message says why."""


def write_weights(file: Path, network: Network, made: Mapping[str, object]) -> None:
    """Write weights; a file of that name stays whole until the new one is.

    Args:
        file: its folder must exist.
        made: how they were made, for readers.

    Raises:
        OSError: it cannot be written.
    """
    numbers = network.weights
    header = {
        FORMAT: 1,
        "inputs": INPUTS_VERSION,
        "players": network.players,
        "sha256": hashlib.sha256(numbers).hexdigest(),
        "made": dict(made),
    }
    replace(file, json.dumps(header).encode("ascii") + b"\n" + numbers)


def replace(file: Path, content: bytes) -> None:
    """Put a file in the place of an old one, in one step.

    Raises:
        OSError: it cannot be written.
    """
    fresh = file.with_name(file.name + ".part")
    try:
        with fresh.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def read_header(file: Path, content: bytes) -> tuple[dict[str, object], bytes]:
    """The first line of a weights file, and the numbers behind it, which are checked.

    Raises:
        WeightsError: it is not as `write_weights` wrote it, or for other inputs.
    """
    line, newline, numbers = content[:HEADER_LIMIT].partition(b"\n")
    try:
        header = json.loads(line) if newline else None
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get(FORMAT) != 1:
        raise WeightsError(f"expected a file of weights: {file}")
    if header.get("inputs") != INPUTS_VERSION:
        raise WeightsError(
            f"expected weights for version {INPUTS_VERSION} of the inputs, these are for "
            f"{header.get('inputs')!r}: {file}"
        )
    numbers = content[len(line) + 1 :]
    if hashlib.sha256(numbers).hexdigest() != header.get("sha256"):
        raise WeightsError(
            f"damaged: its numbers do not give the SHA-256 in its first line: {file}"
        )
    return header, numbers


def read_weights(file: Path) -> Network:
    """The network of a file.

    Raises:
        WeightsError: it is not as `write_weights` wrote it, or for other inputs.
        OSError: it cannot be read.
    """
    header, numbers = read_header(file, file.read_bytes())
    players = header.get("players")
    try:
        if sys.byteorder != "little":
            raise WeightsError(f"only machines that store the little end first can read: {file}")
        return Network(players if isinstance(players, int) else 0, numbers)
    except ValueError as error:
        raise WeightsError(f"{error}: {file}") from None


@cache
def shipped(players: int) -> Network:
    """The weights that ship, for 2 to 5 players.

    Raises:
        WeightsError: the file is damaged.
        OSError: it cannot be read.
    """
    return read_weights(FOLDER / f"players{players}.weights")
