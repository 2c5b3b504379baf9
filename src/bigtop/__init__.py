"""Bigtop: positions, moves and game records of the card game SCOUT.

>>> from bigtop import Position
>>> text = "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
>>> position = Position.parse(text)
>>> str(position.play("L1~"))
'x9/65.37.21.19.45.58.6T.74.83.92 57@0 1 - 0+3/2+0 13.14'
"""

from bigtop.notation import (
    Game,
    HiddenHandError,
    IllegalMoveError,
    InconsistentPositionError,
    NotationError,
    Ply,
    Position,
)
from bigtop.record import (
    Forfeit,
    GameRecord,
    RecordError,
    RoundRecord,
    Step,
    check_record,
    format_record,
    parse_record,
    read_records,
    replay,
    write_record,
)

__all__ = [
    "Forfeit",
    "Game",
    "GameRecord",
    "HiddenHandError",
    "IllegalMoveError",
    "InconsistentPositionError",
    "NotationError",
    "Ply",
    "Position",
    "RecordError",
    "RoundRecord",
    "Step",
    "check_record",
    "format_record",
    "parse_record",
    "read_records",
    "replay",
    "write_record",
]
