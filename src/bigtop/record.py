"""Game records: one JSON object a line, one line a game.

Reading (`parse_record`, `read_records`) asks that a line is such an object; replaying (`replay`,
`check_record`) that the game it tells was played by the rules and has the points it claims.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, NoReturn, Protocol

from bigtop.core.state import FLIP, KEEP, Round, move_code
from bigtop.notation import (
    MAX_PLAYERS,
    Game,
    IllegalMoveError,
    InconsistentPositionError,
    NotationError,
    Position,
    card_name,
    format_row,
    left_when_single,
    low_first,
    parse_move,
    parse_row,
)

__all__ = [
    "Forfeit",
    "GameRecord",
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

VERSION: Final = 1
"""What the key `bigtop` of a record says."""
ENDS: Final = ("i", "ii", "cut", "forfeit")
SEED_LIMIT: Final = 1 << 64
QUOTED: Final = 60
"""Characters of a wrong value that a message quotes at most."""

_KEEP: Final = move_code(KEEP)
_FLIP: Final = move_code(FLIP)


class RecordError(ValueError):
    """A record is written correctly, but does not replay.

    Attributes:
        round: the round in which it goes wrong, from 1; None when it is the game as a whole.
        move: the number of the move at which it goes wrong, from 1; None before and after the
            moves.
        reason: what is wrong.
        line: the line of the file that the record was read from, from 1; 0 when it was not.
    """

    def __init__(
        self, reason: str, round: int | None = None, move: int | None = None, line: int = 0
    ) -> None:
        """Put the message together."""
        self.reason = reason
        self.round = round
        self.move = move
        self.line = line
        where = [f"line {line}"] if line else []
        where.append("the game" if round is None else f"round {round}")
        if move is not None:
            where.append(f"move {move}")
        super().__init__(f"{', '.join(where)}: {reason}")

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, int | None, int | None, int]]:
        """Pickle by what it was made of."""
        return type(self), (self.reason, self.round, self.move, self.line)


@dataclass(frozen=True, slots=True)
class Forfeit:
    """Who gave up a round, and why.

    Attributes:
        seat: the seat that forfeits.
        why: the reason, free text.
        extra: unknown keys, kept for writing.
    """

    seat: int
    why: str
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round.

    Attributes:
        start: the seat that moved first.
        deal: the row that was dealt to each seat, before the flips.
        flips: which seats flipped; shorter than the table only when the round was forfeited in
            the flip phase.
        moves: the tokens, in order, without keep and flip.
        end: `i`, `ii`, `cut` or `forfeit`.
        points: of each seat in this round.
        forfeit: who forfeited, when `end` says so.
        extra: unknown keys, kept for writing.
    """

    start: int
    deal: tuple[str, ...]
    flips: tuple[bool, ...]
    moves: tuple[str, ...]
    end: str
    points: tuple[int, ...]
    forfeit: Forfeit | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_position(cls, position: Position, forfeit: Forfeit | None = None) -> RoundRecord:
        """The record of a round that was played from its deal.

        Args:
            position: a full one, with all moves since the deal (`Position.from_deal`).
            forfeit: who gave up, when the round is not over.

        Raises:
            ValueError: the position is not full, does not begin with the deal, or is over
                although it was forfeited, or not over although it was not.
        """
        first = position.first
        if first.start < 0 or first.turn != 0 or any(map(first.hidden, range(first.players))):
            raise ValueError(
                f"a record needs a full position with its moves since the deal: {position!r}"
            )
        if position.is_over != (forfeit is None):
            state = "over" if position.is_over else "not over"
            raise ValueError(f"the round is {state}: {position!r}")
        chosen = min(len(position.plies), first.players)
        return cls(
            start=first.start,
            deal=tuple(format_row(first.hand(seat)) for seat in range(first.players)),
            flips=tuple(ply.code == _FLIP for ply in position.plies[:chosen]),
            moves=position.moves[chosen:],
            end="forfeit" if forfeit else position.end,
            points=position.points(),
            forfeit=forfeit,
        )


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game: as many rounds as players, or fewer.

    Attributes:
        players: a name for each seat, free text.
        rounds: in the order of play.
        points: of each seat, summed over the rounds.
        seed: what the run was seeded with; None when the record does not say.
        forced_pass: two players: pass only when nothing else is possible.
        board: the number of the deal in its run; None when the record does not say.
        engine_of_seat: which engine of its run played each seat, as the run wrote it.
        control: whether it was played for comparison only.
        config: a digest of what the run was asked for; None when the record does not say.
        extra: unknown keys, kept for writing.
        line: the line of the file that it was read from, from 1; 0 when it was not.
    """

    players: tuple[str, ...]
    rounds: tuple[RoundRecord, ...]
    points: tuple[int, ...]
    seed: int | None = None
    forced_pass: bool = False
    board: int | None = None
    engine_of_seat: Any = None
    control: bool = False
    config: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    line: int = field(default=0, compare=False, repr=False)

    @property
    def is_whole(self) -> bool:
        """Whether it has as many rounds as players."""
        return len(self.rounds) == len(self.players)


# Reading -----------------------------------------------------------------------------------


class _Malformed(Exception):
    """What is wrong with a line; the caller knows its number."""


def parse_record(line: str | bytes, number: int = 0) -> GameRecord:
    """Read one line.

    Args:
        line: a JSON object; bytes are UTF-8.
        number: of the line in its file, from 1, for messages; 0 when there is no file.

    Raises:
        NotationError: it is not a game record.
    """
    try:
        return _read_game(_load(line), number)
    except _Malformed as fault:
        where = f"line {number}: " if number else ""
        raise NotationError(f"{where}{fault}") from None


def read_records(
    stream: Iterable[str] | Iterable[bytes],
    on_error: Callable[[int, NotationError], None] | None = None,
) -> Iterator[GameRecord]:
    """Read records line by line; the file is never in memory.

    Args:
        stream: an open file or any other lines. Of a file opened in binary mode a line that is
            not UTF-8 is an error of that line; in text mode it ends the reading.
        on_error: called with the number and the error of each line that is no record, which is
            then left out; without it the first such line ends the reading.

    Raises:
        NotationError: a line is not a game record, an empty one included. The message names it.
    """
    lines: Iterator[str | bytes] = iter(stream)
    number = 0
    while True:
        number += 1
        try:
            record = parse_record(next(lines), number)
        except StopIteration:
            return
        except UnicodeDecodeError as wrong:
            raise NotationError(f"line {number} or later: expected UTF-8, {wrong}") from None
        except NotationError as error:
            if on_error is None:
                raise
            on_error(number, error)
        else:
            yield record


def _load(line: str | bytes) -> dict[str, Any]:
    wanted = "a game record, one JSON object on the line"
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
    except UnicodeDecodeError as wrong:
        raise _Malformed(f"expected UTF-8, byte {wrong.start + 1} is none") from None
    if not text.strip():
        raise _Malformed(f"expected {wanted}, it is empty")
    try:
        value = json.loads(
            text, parse_constant=_no_number, parse_float=_float, object_pairs_hook=_object
        )
    except json.JSONDecodeError as wrong:
        raise _Malformed(
            f"expected {wanted}, the JSON breaks at character {wrong.pos + 1} ({wrong.msg}): "
            f"{_show(text[max(0, wrong.pos - QUOTED // 2) :])}"
        ) from None
    except RecursionError:
        raise _Malformed(f"expected {wanted}, the JSON is nested too deeply") from None
    except ValueError as wrong:
        raise _Malformed(f"expected {wanted}, {wrong}") from None
    if not isinstance(value, dict):
        raise _Malformed(f"expected {wanted}, got {_show(value)}")
    return value


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is too big to be kept")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {_show(twice)} appears twice in one object")
    return value


def _show(value: object) -> str:
    """A value on one line, in ASCII, shortened."""
    # A long text is cut before it is escaped, which costs time for every character.
    text = ascii(value[: QUOTED + 1] if isinstance(value, str) else value)
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}..."


class _Keys:
    """Takes the known keys out of an object; what is left is unknown, and kept."""

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise _Malformed(f"{where}expected an object, got {_show(value)}")
        self.left: dict[str, Any] = dict(value)
        self.where = where

    def take(self, key: str, fits: Callable[[Any], bool], expected: str) -> Any:
        if key not in self.left:
            raise _Malformed(f"{self.where}expected the key {key} ({expected}), it is missing")
        value = self.left.pop(key)
        if not fits(value):
            raise _Malformed(f"{self.where}expected {expected} for {key}, got {_show(value)}")
        return value

    def take_if_there(
        self, key: str, fits: Callable[[Any], bool], expected: str, default: Any = None
    ) -> Any:
        return self.take(key, fits, expected) if key in self.left else default


def _is_int(value: Any) -> bool:
    return type(value) is int  # bool is an int in Python, but not in JSON


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_seed(value: Any) -> bool:
    return value is None or (_is_int(value) and 0 <= value < SEED_LIMIT)


def _list_of(
    item: Callable[[Any], bool], least: int = 0, most: int | None = None
) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return (
            isinstance(value, list)
            and least <= len(value)
            and (most is None or len(value) <= most)
            and all(map(item, value))
        )

    return fits


def _read_game(value: dict[str, Any], line: int) -> GameRecord:
    keys = _Keys(value, "")
    keys.take("bigtop", lambda number: _is_int(number) and number == VERSION, f"{VERSION}")
    players = tuple(
        keys.take("players", _list_of(_is_text, 2, MAX_PLAYERS), f"2 to {MAX_PLAYERS} names")
    )
    seats = len(players)
    seed = keys.take_if_there("seed", _is_seed, "an integer from 0 to 2**64 - 1")
    forced_pass = keys.take_if_there("forced_pass", _is_bool, "true or false", False)
    if forced_pass and seats != 2:
        raise _Malformed(f"expected forced_pass only with two players, there are {seats}")
    board = keys.take_if_there("board", _is_int, "an integer")
    engine_of_seat = keys.left.pop("engine_of_seat", None)
    control = keys.take_if_there("control", _is_bool, "true or false", False)
    config = keys.take_if_there("config", _is_text, "a text")
    rounds = keys.take(
        "rounds", _list_of(lambda _: True, 1, seats), f"1 to {seats} rounds for {seats} players"
    )
    return GameRecord(
        players=players,
        rounds=tuple(_read_round(each, n, seats) for n, each in enumerate(rounds, 1)),
        points=tuple(_take_points(keys, seats)),
        seed=seed,
        forced_pass=forced_pass,
        board=board,
        engine_of_seat=engine_of_seat,
        control=control,
        config=config,
        extra=keys.left,
        line=line,
    )


def _take_points(keys: _Keys, seats: int) -> list[int]:
    points: list[int] = keys.take("points", _list_of(_is_int, seats, seats), f"{seats} integers")
    return points


def _read_round(value: Any, number: int, seats: int) -> RoundRecord:
    keys = _Keys(value, f"round {number}: ")
    start = keys.take("start", _is_int, "a seat")
    deal = keys.take("deal", _list_of(_is_text, seats, seats), f"{seats} rows of cards")
    end = keys.take("end", lambda end: end in ENDS, "i, ii, cut or forfeit")
    moves = keys.take("moves", _list_of(_is_text), "a list of move tokens")
    # A round can be forfeited while the seats still choose.
    least = 0 if end == "forfeit" and not moves else seats
    flips = keys.take("flips", _list_of(_is_bool, least, seats), f"{seats} times true or false")
    forfeit = None
    if end == "forfeit":
        inner = _Keys(
            keys.take("forfeit", lambda _: True, "an object with seat and why"),
            f"round {number}, forfeit: ",
        )
        forfeit = Forfeit(
            inner.take("seat", lambda seat: _is_int(seat) and 0 <= seat < seats, "a seat"),
            inner.take("why", _is_text, "a text"),
            inner.left,
        )
    elif "forfeit" in keys.left:
        raise _Malformed(f"round {number}: expected forfeit only when end is forfeit, not {end}")
    return RoundRecord(
        start=start,
        deal=tuple(deal),
        flips=tuple(flips),
        moves=tuple(moves),
        end=end,
        points=tuple(_take_points(keys, seats)),
        forfeit=forfeit,
        extra=keys.left,
    )


# Writing -----------------------------------------------------------------------------------


class _Writable(Protocol):
    def write(self, text: str, /) -> object: ...


def format_record(record: GameRecord) -> str:
    """Write a record as one line of JSON in ASCII, without the line's end.

    Known keys come in a fixed order, unknown ones after those of the same object.
    """
    value: dict[str, Any] = {"bigtop": VERSION, "players": list(record.players)}
    if record.seed is not None:
        value["seed"] = record.seed
    if record.forced_pass:
        value["forced_pass"] = True
    if record.board is not None:
        value["board"] = record.board
    if record.engine_of_seat is not None:
        value["engine_of_seat"] = record.engine_of_seat
    if record.control:
        value["control"] = True
    if record.config is not None:
        value["config"] = record.config
    value["rounds"] = [_round_value(each) for each in record.rounds]
    value["points"] = list(record.points)
    return json.dumps(value | record.extra, allow_nan=False)


def _round_value(round: RoundRecord) -> dict[str, Any]:
    value: dict[str, Any] = {
        "start": round.start,
        "deal": list(round.deal),
        "flips": list(round.flips),
        "moves": list(round.moves),
        "end": round.end,
    }
    if round.forfeit is not None:
        value["forfeit"] = {
            "seat": round.forfeit.seat,
            "why": round.forfeit.why,
            **round.forfeit.extra,
        }
    value["points"] = list(round.points)
    return value | round.extra


def write_record(stream: _Writable, record: GameRecord) -> None:
    """Write a record and the line's end to an open text file, in one piece."""
    stream.write(format_record(record) + "\n")


# Replaying ---------------------------------------------------------------------------------


class _Trail:
    """The moves of one round so far; makes positions from them when one is asked for."""

    def __init__(self, first: Position) -> None:
        self.first = first
        self.codes: list[int] = []
        self._made = 0
        self._position = first

    def position(self, count: int) -> Position:
        """The position after so many of the moves, with its history."""
        if count < self._made:
            self._made, self._position = 0, self.first
        while self._made < count:
            self._position = self._position.play_code(self.codes[self._made])
            self._made += 1
        return self._position


class Step(NamedTuple):
    """One position of a replayed game, and what was played there.

    Attributes:
        game: the round's number, from 1, and the points before it.
        ply: moves made in this round before it; 0 throughout the flip phase.
        seat: the seat that acts.
        code: what it plays here, a choice of the flip phase included; None where the round stops.
        round: the round as it stands here; a copy, the caller's own.
        trail: makes `position`.
        played: moves and choices before it.
    """

    game: Game
    ply: int
    seat: int
    code: int | None
    round: Round
    trail: _Trail
    played: int

    def position(self) -> Position:
        """The full position with its history since the deal, without a GAME field."""
        return self.trail.position(self.played)


def replay(record: GameRecord) -> Iterator[Step]:
    """Play a game again, and check all that its record says.

    Checked are the deals (sizes, cards, with two players that the second round is dealt from the
    other cards), every move, how each round ended, its points, their sum, and in a record of a
    whole game who started. Each move is checked before its position is given.

    Args:
        record: as read, or as built by a caller.

    Yields:
        Every position of every round: for each choice of the flip phase, for each move, and the
        one where the round stops.

    Raises:
        RecordError: it does not replay; the message names the round and the move.
    """
    seats = len(record.players)
    if not 2 <= seats <= MAX_PLAYERS or not 1 <= len(record.rounds) <= seats:
        raise _wrong(
            record, f"{len(record.rounds)} rounds of {seats} players are no game of 2 to 5 players"
        )
    scores = (0,) * seats
    dealt_before: frozenset[int] = frozenset()
    for number in range(1, len(record.rounds) + 1):
        first = _dealt(record, number)
        hands = [first.first.hand(seat) for seat in range(seats)]
        cards = frozenset(map(low_first, b"".join(hands)))
        if seats == 2 and dealt_before & cards:
            raise _wrong(
                record,
                f"{card_name(min(dealt_before & cards))} was dealt in round 1 already, the second "
                "round of two players is dealt from the other cards",
                number,
            )
        dealt_before = cards
        if record.is_whole:
            _check_start(record, number, hands)
        points = yield from _replay_round(record, number, first, Game(number, scores))
        scores = tuple(map(sum, zip(scores, points, strict=True)))
    if scores != record.points:
        raise _wrong(
            record,
            f"the points of its rounds add up to {_numbers(scores)}, "
            f"the record says {_numbers(record.points)}",
        )


def check_record(record: GameRecord) -> None:
    """Replay a game for its checks only.

    Raises:
        RecordError: it does not replay.
    """
    for _ in replay(record):
        pass


def _wrong(
    record: GameRecord, reason: str, round: int | None = None, move: int | None = None
) -> RecordError:
    return RecordError(reason, round, move, record.line)


def _numbers(points: Iterable[int]) -> str:
    return "/".join(map(str, points))


def _dealt(record: GameRecord, number: int) -> Position:
    """The beginning of a round."""
    told = record.rounds[number - 1]
    seats = len(record.players)
    if len(told.deal) != seats:
        raise _wrong(record, f"{len(told.deal)} hands were dealt to {seats} players", number)
    hands = []
    for seat, row in enumerate(told.deal):
        try:
            hands.append(parse_row(row))
        except NotationError as error:
            raise _wrong(record, f"deal, seat {seat}: {error}", number) from None
        if 0 in hands[-1]:
            raise _wrong(record, f"deal, seat {seat}: a card is hidden", number)
    try:
        return Position.from_deal(hands, told.start, forced_pass=record.forced_pass)
    except InconsistentPositionError as error:
        raise _wrong(record, f"deal: {error}", number) from None


def _check_start(record: GameRecord, number: int, hands: list[bytes]) -> None:
    """In a whole game the holder of 1/2 starts the first round, then the next seat each."""
    seats = len(record.players)
    start = record.rounds[number - 1].start
    if number > 1:
        wanted = (record.rounds[0].start + number - 1) % seats
        why = "the start passes to the next seat each round"
    else:
        holders = [seat for seat, hand in enumerate(hands) if 0x12 in hand or 0x21 in hand]
        wanted = holders[0] if holders else 0
        why = "it holds the card 1/2" if holders else "nobody holds the card 1/2"
    if start != wanted:
        raise _wrong(record, f"seat {start} starts, it should be seat {wanted}: {why}", number)


def _replay_round(
    record: GameRecord, number: int, first: Position, game: Game
) -> Generator[Step, None, tuple[int, ...]]:
    """Replay one round from its deal and return its points."""
    told = record.rounds[number - 1]
    trail = _Trail(first)
    round = first.round

    def step(before: Round, code: int | None) -> Step:
        return Step(game, before.made, before.turn, code, before, trail, len(trail.codes))

    unfinished = told.end == "forfeit" and not told.moves
    if len(told.flips) != first.players and not (unfinished and len(told.flips) < first.players):
        raise _wrong(
            record, f"there are {len(told.flips)} flips of {first.players} players", number
        )
    for flipped in told.flips:
        code = _FLIP if flipped else _KEEP
        before = round.copy()
        round.play(code)
        yield step(before, code)
        trail.codes.append(code)
    for move, token in enumerate(told.moves, 1):
        if round.end:
            raise _wrong(
                record,
                f"{_show(token)} comes after the round has ended ({round.end})",
                number,
                move,
            )
        try:
            code, named = parse_move(token)
            if named:
                code = trail.position(len(trail.codes)).code(token)
        except NotationError as error:
            raise _wrong(record, str(error), number, move) from None
        except IllegalMoveError as error:
            raise _wrong(record, f"{_show(token)}: {error.reason}", number, move) from None
        code = left_when_single(round, code)
        before = round.copy()
        try:
            round.play(code)
        except ValueError as refused:
            raise _wrong(record, f"{_show(token)}: {refused}", number, move) from None
        yield step(before, code)
        trail.codes.append(code)
    yield step(round.copy(), None)
    return _checked_points(record, number, round)


def _checked_points(record: GameRecord, number: int, round: Round) -> tuple[int, ...]:
    """Compare how a round ended, and its points, with what the record says."""
    told = record.rounds[number - 1]
    after = f"after its {len(told.moves)} moves"
    if told.end == "forfeit":
        if round.end:
            raise _wrong(record, f"it is over {after} ({round.end}), not forfeited", number)
        if told.forfeit is None or not 0 <= told.forfeit.seat < round.players:
            raise _wrong(record, "it is forfeited, but by no seat of the table", number)
    elif not round.end:
        raise _wrong(record, f"it is not over {after}, the record says {told.end}", number)
    elif round.end != told.end:
        raise _wrong(record, f"it ends by {round.end} {after}, not by {told.end}", number)
    points = round.points()
    if points != told.points:
        raise _wrong(
            record,
            f"its points are {_numbers(points)}, the record says {_numbers(told.points)}",
            number,
        )
    return points
