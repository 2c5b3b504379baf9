"""The texts of Bigtop: cards, move tokens and positions.

A position is one line of six fields, perhaps a GAME field, perhaps the moves played since::

    SEATS ACTIVE TURN TOKENS POINTS OUT [GAME] [moves TOKEN ...]

Reading has three stages which fail in three ways: the text must be written correctly
(`NotationError`), what it says must make sense (`InconsistentPositionError`, with every
reason), and the moves must be legal (`IllegalMoveError`). All of them are `ValueError`s, and
their messages are single lines. The rules themselves are not in this module: whether a move
is legal and what it does is asked of `bigtop.core.state.Round`.

Cards are integers here, the active number in the upper four bits and the other number in the
lower four (the card ``2T`` is ``0x2A``); 0 is a card that nobody has named. A row of cards is
`bytes`. Places count from 1 in every text and message, and from 0 in move codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple

from bigtop.core.state import (
    FLIP,
    KEEP,
    MOVE_LIMIT,
    PASS,
    SCOUT,
    SCOUT_SHOW,
    SHOW,
    Round,
    cards_in_play,
    deck,
    hand_size,
    move_code,
    move_parts,
    strength,
)

__all__ = [
    "Game",
    "HiddenHandError",
    "IllegalMoveError",
    "InconsistentPositionError",
    "NotationError",
    "Ply",
    "Position",
    "format_card",
    "format_move",
    "format_row",
    "parse_card",
    "parse_move",
    "parse_row",
]

MAX_CARDS: Final = 45
"""Cards in the biggest deck; no row is longer."""
MAX_PLAYERS: Final = 5
MAX_NUMBER: Final = 999
"""The highest number that a text may hold."""
LONGEST_SET: Final = 10
"""Cards of the longest block, the run from 1 to 10."""
MOST_MOVES: Final = MOVE_LIMIT + MAX_PLAYERS
"""Moves that a round can have, the choices of the flip phase included."""
TWO_PLAYER_CHIPS: Final = 3
"""Scout chips that each of two players takes at the start of a round."""
QUOTED: Final = 160
"""Characters of an input that a message quotes at most."""

_SPOKEN_FIELDS: Final = "SEATS ACTIVE TURN TOKENS POINTS OUT"
_CARD: Final = "a card such as 37"
_CARD_OR_X: Final = "a card such as 37 or hidden cards such as x4"
_MOVE: Final = "a move such as S4, S3-5, L4, R1~, L4~+S3-5, keep, flip or pass"


# Errors ------------------------------------------------------------------------------------


class NotationError(ValueError):
    """A text is not written as the notation wants it.

    The message says which field and which place, what was expected there, and quotes the input.
    """


class InconsistentPositionError(ValueError):
    """A position is written correctly, but it cannot be.

    Attributes:
        faults: every reason, each in plain words; the message joins them with ``; ``.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        """Join the faults, of which there is at least one."""
        self.faults: tuple[str, ...] = tuple(faults)
        super().__init__("; ".join(self.faults))

    def __reduce__(self) -> tuple[type[InconsistentPositionError], tuple[tuple[str, ...]]]:
        """Pickle by what it was made of."""
        return type(self), (self.faults,)


class IllegalMoveError(ValueError):
    """A move is written correctly, but the rules or the known cards do not allow it.

    Attributes:
        move: the token as it was given.
        reason: why it is refused.
        position: the text of the position in which it was to be played.
        number: which of the moves after the word `moves` it is, from 1; None when it stood alone.
    """

    def __init__(self, move: str, reason: str, position: str, number: int | None = None) -> None:
        """Put the message together."""
        self.move = move
        self.reason = reason
        self.position = position
        self.number = number
        which = "" if number is None else f" (move {number})"
        super().__init__(f"illegal move {_quote(move)}{which}: {reason}, in {_quote(position)}")

    def __reduce__(self) -> tuple[type[IllegalMoveError], tuple[str, str, str, int | None]]:
        """Pickle by what it was made of."""
        return type(self), (self.move, self.reason, self.position, self.number)


class HiddenHandError(ValueError):
    """Something was asked that needs to see a hand which this position hides."""


class _Syntax(Exception):
    """What a reader of a part found; the reader of the whole turns it into a NotationError."""

    def __init__(self, expected: str, got: str, place: str = "") -> None:
        super().__init__(expected)
        self.expected = expected
        self.got = got
        self.place = place

    def error(self, whole: str, field: str = "") -> NotationError:
        where = f" in {field}" if field else ""
        if self.place:
            where += f" ({self.place})"
        quoted = _quote(whole)
        tail = "" if quoted == self.got else f": {quoted}"
        return NotationError(f"expected {self.expected}{where}, got {self.got}{tail}")


class _Refusal(Exception):
    """Why a move cannot be played; the caller knows how to name the move."""


def _quote(text: str) -> str:
    """The text in quotes, on one line, in ASCII, and not too long."""
    shown = ascii(text[:QUOTED])
    if len(shown) > 2 * QUOTED:  # nearly all of it is escaped
        shown = ascii(text[: QUOTED // 5])
        return f"{shown}... ({len(text)} characters)"
    return shown if len(text) <= QUOTED else f"{shown}... ({len(text)} characters)"


def _listed(things: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"


# Cards -------------------------------------------------------------------------------------

_DIGITS: Final = " 123456789T"
_CARD_TEXT: Final = {
    active << 4 | other: _DIGITS[active] + _DIGITS[other]
    for active in range(1, 11)
    for other in range(1, 11)
    if active != other
}
_CARD_CODE: Final = {
    spelling: card
    for card, text in _CARD_TEXT.items()
    for spelling in (text, text.replace("T", "t"))
}
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,2}")
_SCORE: Final = re.compile(r"0|-?[1-9][0-9]{0,2}")


def _turned(card: int) -> int:
    return (card & 15) << 4 | card >> 4


def low_first(card: int) -> int:
    """The same card with its lower number active: one code for both orientations."""
    return min(card, _turned(card))


def card_name(card: int) -> str:
    """A card in plain words, `card 3/10`, the same for both orientations."""
    low = low_first(card)
    return f"card {low >> 4}/{low & 15}"


def parse_card(text: str) -> int:
    """Read one known card, such as ``37`` or ``2T``.

    Args:
        text: the active number, then the other; ``T`` (or ``t``) is ten.

    Returns:
        active number << 4 | other number.

    Raises:
        NotationError: it is not a card; ``x`` is not one either.
    """
    card = _CARD_CODE.get(text)
    if card is None:
        raise _Syntax(_CARD, _quote(text)).error(text)
    return card


def format_card(card: int) -> str:
    """Write one card; 0, a hidden card, is ``x``.

    Raises:
        ValueError: no card has this code.
    """
    if card == 0:
        return "x"
    try:
        return _CARD_TEXT[card]
    except KeyError:
        raise ValueError(f"no card has the code {card!r}") from None


def parse_row(text: str) -> bytes:
    """Read a row of cards, such as ``x3.45.x2``; ``-`` is the empty row.

    Args:
        text: cards and `x` items, joined by dots.

    Returns:
        One byte for each card, 0 for a hidden one.

    Raises:
        NotationError: it is not a row, or it has more than 45 cards.
    """
    try:
        return _read_row(text)
    except _Syntax as fault:
        raise fault.error(text, "the row") from None


def _read_row(text: str, known_only: bool = False) -> bytes:
    if text == "-":
        return b""
    if text.count(".") >= MAX_CARDS:
        raise _Syntax(f"at most {MAX_CARDS} cards", f"{text.count('.') + 1} items")
    row = bytearray()
    for item in text.split("."):
        card = _CARD_CODE.get(item)
        if card is not None:
            row.append(card)
        elif item[:1] != "x" or known_only:
            expected = _CARD if known_only else _CARD_OR_X
            raise _Syntax(expected, _quote(item), f"place {len(row) + 1}")
        elif item == "x":
            row.append(0)
        else:
            count = int(item[1:]) if _NUMBER.fullmatch(item, 1) else 0
            if not 1 <= count <= MAX_CARDS:
                expected = f"x with a count from 1 to {MAX_CARDS}"
                raise _Syntax(expected, _quote(item), f"place {len(row) + 1}")
            row.extend(bytes(count))
        if len(row) > MAX_CARDS:
            raise _Syntax(f"at most {MAX_CARDS} cards", "more")
    return bytes(row)


def format_row(cards: bytes) -> str:
    """Write a row of cards canonically.

    Raises:
        ValueError: a byte is no card and not 0.
    """
    if 0 not in cards:
        try:
            return ".".join([_CARD_TEXT[card] for card in cards]) or "-"
        except KeyError as unknown:
            raise ValueError(f"no card has the code {unknown}") from None
    items = []
    hidden = 0
    for card in cards:
        if card == 0:
            hidden += 1
            continue
        if hidden:
            items.append("x" if hidden == 1 else f"x{hidden}")
            hidden = 0
        items.append(format_card(card))
    if hidden:
        items.append("x" if hidden == 1 else f"x{hidden}")
    return ".".join(items)


# Moves -------------------------------------------------------------------------------------

_PLACE: Final = r"([1-9][0-9]{0,2})"
_SCOUT_TOKEN: Final = re.compile(rf"([LR]){_PLACE}(~?)")
_SHOW_TOKEN: Final = re.compile(rf"(?:([LR]){_PLACE}(~?)\+)?S{_PLACE}(?:-{_PLACE})?(?::(.*))?")
_WORDS: Final = {
    "pass": (move_code(PASS), b""),
    "keep": (move_code(KEEP), b""),
    "flip": (move_code(FLIP), b""),
}


def parse_move(token: str) -> tuple[int, bytes]:
    """Read a move token; whether it is legal anywhere is another question.

    Args:
        token: such as ``S3-5``, ``S3-5:45.56.67``, ``L4~``, ``R1+S2``, ``keep`` or ``pass``.

    Returns:
        The move code (see `bigtop.core.state.move_parts`) and the named cards, as they lie in
        the new active set; empty when the token names none.

    Raises:
        NotationError: it is not a move token.
    """
    try:
        return _read_move(token)
    except _Syntax as fault:
        raise fault.error(token, "the move" if fault.place else "") from None


@lru_cache(maxsize=4096)
def _read_move(token: str) -> tuple[int, bytes]:
    if token in _WORDS:
        return _WORDS[token]
    if found := _SCOUT_TOKEN.fullmatch(token):
        end, place, tilde = found.groups()
        return move_code(SCOUT, _end(end), _place(place, token), _tilde(tilde)), b""
    found = _SHOW_TOKEN.fullmatch(token)
    if found is None:
        raise _Syntax(_MOVE, _quote(token))
    end, place, tilde, first_text, last_text, suffix = found.groups()
    first = _place(first_text, token)
    last = first
    if last_text is not None:
        last = _place(last_text, token)
        if last == first:
            raise _Syntax(f"S{first_text} for a single card", _quote(token))
        if last < first:
            raise _Syntax(f"a block from left to right (S{last_text}-{first_text})", _quote(token))
    cards = b""
    if suffix is not None:
        cards = _read_suffix(suffix, last - first + 1)
    if end is None:
        return move_code(SHOW, first=first, last=last), cards
    return (
        move_code(SCOUT_SHOW, _end(end), _place(place, token), _tilde(tilde), first, last),
        cards,
    )


def _end(letter: str) -> int:
    return 1 if letter == "R" else 0


def _tilde(text: str) -> int:
    return 1 if text else 0


def _place(text: str, token: str) -> int:
    place = int(text)
    if place > MAX_CARDS:
        raise _Syntax(f"places from 1 to {MAX_CARDS}", _quote(token))
    return place - 1


def _read_suffix(text: str, count: int) -> bytes:
    wanted = "1 card" if count == 1 else f"{count} cards"
    try:
        cards = _read_row(text, known_only=True)
    except _Syntax as fault:
        place = f"after the colon, {fault.place}" if fault.place else "after the colon"
        raise _Syntax(fault.expected, fault.got, place) from None
    if len(cards) != count:
        raise _Syntax(f"{wanted}, one for each place shown,", f"{len(cards)}", "after the colon")
    return cards


def format_move(code: int, cards: bytes = b"") -> str:
    """Write a move token.

    Args:
        code: a move code.
        cards: the cards that a Show lays out, for the suffix; empty for a token without one.

    Raises:
        ValueError: no move has this code.
    """
    return f"{_token(code)}:{format_row(cards)}" if cards else _token(code)


@lru_cache(maxsize=1 << 15)
def _token(code: int) -> str:
    kind, end, place, turned, first, last = move_parts(code)
    if kind == PASS:
        return "pass"
    if kind == KEEP:
        return "keep"
    if kind == FLIP:
        return "flip"
    scout = f"{'R' if end else 'L'}{place + 1}{'~' if turned else ''}"
    if kind == SCOUT:
        return scout
    show = f"S{first + 1}" if first == last else f"S{first + 1}-{last + 1}"
    if kind == SHOW:
        return show
    if kind == SCOUT_SHOW:
        return f"{scout}+{show}"
    raise ValueError(f"no move has the code {code}")


# Playing: what the text adds to the rules ---------------------------------------------------


class Ply(NamedTuple):
    """A move that was played.

    Attributes:
        seat: who played it.
        code: the move code; the only card of an active set is always scouted from the left.
        cards: what a Show laid out, from left to right; empty for other moves.
    """

    seat: int
    code: int
    cards: bytes


def left_when_single(round: Round, code: int) -> int:
    """Scouting the only card of an active set is written with L."""
    kind, end, place, turned, first, last = move_parts(code)
    if end and kind in (SCOUT, SCOUT_SHOW) and len(round.active) == 1:
        return move_code(kind, 0, place, turned, first, last)
    return code


def _play(round: Round, code: int, named: bytes) -> Ply:
    """Play a move on `round` in place, after putting the named cards where they were hidden.

    Raises _Refusal, and `round` is then of no more use.
    """
    code = left_when_single(round, code)
    seat = round.turn
    shown = _uncover(round, code, named)
    try:
        round.play(code)
    except ValueError as refused:
        raise _Refusal(str(refused)) from None
    if max(round.chips) > MAX_NUMBER:
        raise _Refusal(f"a seat would have more than {MAX_NUMBER} chips, which no text can tell")
    return Ply(seat, code, shown)


def _replay(first: Round, plies: Iterable[Ply]) -> Round:
    """The round that results from moves which have been played before."""
    round = first.copy()
    for ply in plies:
        _play(round, ply.code, ply.cards)
    return round


def _uncover(round: Round, code: int, named: bytes) -> bytes:
    """Check the named cards of a Show, reveal them on `round`, and return the cards shown.

    Empty when there is no such Show to play here: the rules will say why.
    """
    kind, end, place, turned, first, last = move_parts(code)
    if kind not in (SHOW, SCOUT_SHOW) or round.end or round.start >= 0:
        return b""
    seat = round.turn
    hand = round.hand(seat)
    put_in = len(hand)
    if kind == SCOUT_SHOW:
        active = round.active
        if not active or place > len(hand):
            return b""
        card = active[-1] if end else active[0]
        hand = hand[:place] + bytes([_turned(card) if turned else card]) + hand[place:]
        put_in = place
    if last >= len(hand):
        return b""
    shown = hand[first : last + 1]
    if not named:
        if 0 in shown:
            raise _Refusal("it lays out hidden cards, which must be named, as in S3-5:45.56.67")
        return shown
    found = []
    for place, (known, card) in enumerate(zip(shown, named, strict=True), first):
        if known == 0:
            found.append((place - (place > put_in), card))
        elif known != card:
            raise _Refusal(
                f"the card at place {place + 1} is known to be {format_card(known)}, "
                f"not {format_card(card)}"
            )
    if found:
        _check_named(round, named, [card for _, card in found])
        for place, card in found:
            round.reveal(seat, place, bytes([card]))
    return named


def _check_named(round: Round, named: bytes, hidden: Iterable[int]) -> None:
    """Refuse named cards which cannot be where they are hidden."""
    seen = {low_first(card): "OUT" for card in round.out}
    seen |= {low_first(card): "the active set" for card in round.active}
    for seat in range(round.players):
        seen |= {low_first(card): f"the hand of seat {seat}" for card in round.hand(seat) if card}
    lows = [low_first(card) for card in named]
    for card in hidden:
        low = low_first(card)
        if low not in _deck_set(round.players):
            raise _Refusal(f"{card_name(card)} is not in the deck for {round.players} players")
        if low in seen:
            raise _Refusal(f"{card_name(card)} cannot be there, it is in {seen[low]}")
        if lows.count(low) > 1:
            raise _Refusal(f"{card_name(card)} is named twice")


@cache
def _deck_set(players: int) -> frozenset[int]:
    return frozenset(deck(players))


# Positions: reading and writing -------------------------------------------------------------


class Game(NamedTuple):
    """Where in a game a round is played.

    Attributes:
        round: the round, from 1.
        scores: points of each seat before this round.
    """

    round: int
    scores: tuple[int, ...]


class _Fields(NamedTuple):
    """What a position's fields say, before anybody asked whether it makes sense."""

    hands: tuple[bytes, ...]
    active: bytes
    owner: int  # -1: no active set
    turn: int
    start: int  # -1: not in the flip phase
    tokens: tuple[int, ...]
    forced_pass: bool
    captured: tuple[int, ...]
    chips: tuple[int, ...]
    out: bytes
    game: Game | None

    def round(self) -> Round:
        return Round(
            self.hands,
            active=self.active,
            owner=self.owner,
            turn=self.turn,
            start=self.start,
            tokens=sum(1 << seat for seat in self.tokens),
            captured=self.captured,
            chips=self.chips,
            forced_pass=self.forced_pass,
            out=self.out,
        )


_TURN: Final = re.compile(r"(0|[1-9][0-9]{0,2})(?:f(0|[1-9][0-9]{0,2}))?")
_POINTS: Final = re.compile(r"(0|[1-9][0-9]{0,2})\+(0|[1-9][0-9]{0,2})")
_TOKENS: Final = re.compile(rf"[0-9]{{1,{MAX_PLAYERS}}}")


def _split(text: str) -> tuple[list[str], list[str]]:
    """The fields and the tokens after the word `moves`, none of them looked into."""
    if not text.isascii():
        at = next(i for i, letter in enumerate(text) if not letter.isascii())
        raise _Syntax("ASCII characters only", ascii(text[at]), f"character {at + 1}").error(text)
    # Splitting bytes knows the six white space characters of ASCII; splitting str knows more.
    words = text.encode("ascii").split()
    before = words.index(b"moves") if b"moves" in words else len(words)
    if not words:
        raise _Syntax(f"a position of 6 fields ({_SPOKEN_FIELDS})", _quote(text)).error(text)
    if before < 6:
        raise _Syntax(f"6 fields ({_SPOKEN_FIELDS})", str(before)).error(text)
    if before > 6 and b":" not in words[6]:
        expected = "a GAME field such as 2:12/-1/7/3, the word moves or the end after OUT"
        raise _Syntax(expected, _quote(words[6].decode("ascii"))).error(text)
    if before > 7:
        expected = "the word moves or the end after the GAME field"
        raise _Syntax(expected, _quote(words[7].decode("ascii"))).error(text)
    count = len(words) - before - 1
    if count == 0:
        raise _Syntax("at least one move after the word moves", "none").error(text)
    if count > MOST_MOVES:
        expected = f"at most {MOST_MOVES} moves (a round is cut after {MOVE_LIMIT})"
        raise _Syntax(expected, str(count)).error(text)
    decoded = [word.decode("ascii") for word in words]
    return decoded[:before], decoded[before + 1 :]


def _read_fields(words: Sequence[str]) -> _Fields:
    """Read six or seven fields. Raises _Syntax whose `field` tells which one it was."""
    field = "SEATS"
    try:
        hands = _read_seats(words[0])
        players = len(hands)
        field = "ACTIVE"
        active, owner = _read_active(words[1])
        field = "TURN"
        turn, start = _read_turn(words[2])
        field = "TOKENS"
        tokens, forced_pass = _read_tokens(words[3], players)
        field = "POINTS"
        captured, chips = _read_points(words[4], players)
        field = "OUT"
        out = _read_row(words[5], known_only=True)
        field = "GAME"
        game = _read_game(words[6], players) if len(words) == 7 else None
    except _Syntax as fault:
        raise _InField(field, fault) from None
    return _Fields(
        hands, active, owner, turn, start, tokens, forced_pass, captured, chips, out, game
    )


class _InField(Exception):
    def __init__(self, field: str, fault: _Syntax) -> None:
        super().__init__(field)
        self.field = field
        self.fault = fault


def _read_number(text: str, expected: str, place: str = "") -> int:
    if not _NUMBER.fullmatch(text):
        raise _Syntax(f"{expected} (0 to {MAX_NUMBER}, no leading zeros)", _quote(text), place)
    return int(text)


def _parts(text: str, players: int, what: str) -> list[str]:
    """The parts of a field which has one for each seat."""
    if text.count("/") + 1 != players:
        raise _Syntax(f"{what} for {players} seats, joined by /", str(text.count("/") + 1))
    return text.split("/")


def _read_seats(text: str) -> tuple[bytes, ...]:
    count = text.count("/") + 1
    if not 2 <= count <= MAX_PLAYERS:
        raise _Syntax(f"2 to {MAX_PLAYERS} hands", str(count))
    hands = []
    for seat, row in enumerate(text.split("/")):
        try:
            hands.append(_read_row(row))
        except _Syntax as fault:
            place = f"seat {seat}, {fault.place}" if fault.place else f"seat {seat}"
            raise _Syntax(fault.expected, fault.got, place) from None
    return tuple(hands)


def _read_active(text: str) -> tuple[bytes, int]:
    if text == "-":
        return b"", -1
    row, at, owner = text.partition("@")
    if not at or row in ("", "-"):
        raise _Syntax("- or cards, @ and their owner such as 58.65@0", _quote(text))
    return (
        _read_row(row, known_only=True),
        _read_number(owner, "the owner's seat after @"),
    )


def _read_turn(text: str) -> tuple[int, int]:
    found = _TURN.fullmatch(text)
    if found is None:
        raise _Syntax("a seat such as 1 (in the flip phase 2f0)", _quote(text))
    turn, start = found.groups()
    return int(turn), -1 if start is None else int(start)


def _read_tokens(text: str, players: int) -> tuple[tuple[int, ...], bool]:
    if text == "-":
        return (), False
    if text == "f" and players == 2:
        return (), True
    if _TOKENS.fullmatch(text):
        return tuple(sorted(int(digit) for digit in text)), False
    if players == 2:
        raise _Syntax("- or f with two players", _quote(text))
    raise _Syntax("- or seats such as 013", _quote(text))


def _read_points(text: str, players: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    captured = []
    chips = []
    for seat, part in enumerate(_parts(text, players, "captured cards + chips")):
        found = _POINTS.fullmatch(part)
        if found is None:
            expected = f"captured cards + chips such as 2+1 (0 to {MAX_NUMBER}, no leading zeros)"
            raise _Syntax(expected, _quote(part), f"seat {seat}")
        captured.append(int(found[1]))
        chips.append(int(found[2]))
    return tuple(captured), tuple(chips)


def _read_game(text: str, players: int) -> Game:
    number, _, points = text.partition(":")
    round_number = _read_number(number, "the round before the colon")
    scores = []
    for seat, part in enumerate(_parts(points, players, "points")):
        if not _SCORE.fullmatch(part):
            expected = f"points from -{MAX_NUMBER} to {MAX_NUMBER} (no leading zeros, no -0)"
            raise _Syntax(expected, _quote(part), f"seat {seat}")
        scores.append(int(part))
    return Game(round_number, tuple(scores))


def _write(round: Round, game: Game | None) -> str:
    """The canonical text of a position, without moves."""
    seats = range(round.players)
    active = round.active
    if round.players == 2:
        tokens = "f" if round.forced_pass else "-"
    else:
        tokens = "".join([str(seat) for seat in seats if round.tokens >> seat & 1]) or "-"
    words = [
        "/".join([format_row(round.hand(seat)) for seat in seats]),
        f"{format_row(active)}@{round.owner}" if active else "-",
        str(round.turn) if round.start < 0 else f"{round.turn}f{round.start}",
        tokens,
        "/".join([f"{c}+{s}" for c, s in zip(round.captured, round.chips, strict=True)]),
        format_row(round.out),
    ]
    if game is not None:
        words.append(f"{game.round}:{'/'.join([str(score) for score in game.scores])}")
    return " ".join(words)


# Positions: sense ---------------------------------------------------------------------------


def _faults(fields: _Fields) -> list[str]:
    """Every reason why a position cannot be, in plain words."""
    faults = _card_faults(fields)
    faults += _set_faults(fields)
    faults += _count_faults(fields)
    faults += _seat_faults(fields)
    if fields.start >= 0:
        faults += _flip_faults(fields)
    if fields.game is not None:
        faults += _game_faults(fields.game, len(fields.hands))
    return faults


def _card_faults(fields: _Fields) -> list[str]:
    """Cards that appear twice, and cards of another deck."""
    faults = []
    rows = [(f"seat {seat}", hand) for seat, hand in enumerate(fields.hands)]
    rows += [("the active set", fields.active), ("OUT", fields.out)]
    places: dict[int, list[str]] = {}
    for name, row in rows:
        for card in row:
            if card:
                places.setdefault(low_first(card), []).append(name)
    players = len(fields.hands)
    for card, names in sorted(places.items()):
        if len(names) > 1:
            often = "twice" if len(names) == 2 else f"{len(names)} times"
            different = list(dict.fromkeys(names))
            if len(different) == 1:
                faults.append(f"{card_name(card)} appears {often} in {different[0]}")
            else:
                faults.append(f"{card_name(card)} appears {often}: {_listed(different)}")
        if card not in _deck_set(players):
            where = _listed(list(dict.fromkeys(names)))
            faults.append(f"{card_name(card)} ({where}) is not in the deck for {players} players")
    return faults


def _set_faults(fields: _Fields) -> list[str]:
    if not fields.active:
        return []
    faults = []
    if len(fields.active) > LONGEST_SET or not strength(fields.active):
        faults.append(
            f"the active set {format_row(fields.active)} is neither equal numbers nor a run"
        )
    if fields.owner == fields.turn:
        faults.append(f"seat {fields.turn} is to move and owns the active set")
    return faults


def _count_faults(fields: _Fields) -> list[str]:
    faults = []
    players = len(fields.hands)
    in_hands = sum(len(hand) for hand in fields.hands)
    captured = sum(fields.captured)
    total = in_hands + len(fields.active) + captured
    if total != cards_in_play(players):
        faults.append(
            f"the cards add up to {total}, not to the {cards_in_play(players)} in play: {in_hands}"
            f" in hands, {len(fields.active)} in the active set, {captured} captured"
        )
    if players > 2:
        if len(fields.out) > captured:
            faults.append(f"OUT lists {len(fields.out)} cards, only {captured} were captured")
        return faults
    hidden = sum(hand.count(0) for hand in fields.hands)
    listed = {low_first(card) for card in b"".join([*fields.hands, fields.active, fields.out])}
    unlisted = len(_deck_set(players) - listed)
    if unlisted < hidden:
        faults.append(f"{hidden} cards are hidden, only {unlisted} are listed nowhere")
    return faults


def _seat_faults(fields: _Fields) -> list[str]:
    """Seats, tokens and chips that do not exist for this many players."""
    faults = []
    players = len(fields.hands)
    there_are = f"the seats are 0 to {players - 1}"
    if fields.turn >= players:
        faults.append(f"the seat to move is {fields.turn}, {there_are}")
    if fields.start >= players:
        faults.append(f"the starting seat is {fields.start}, {there_are}")
    if fields.owner >= players:
        faults.append(f"the owner of the active set is seat {fields.owner}, {there_are}")
    if players == 2:
        if fields.tokens:
            faults.append("two players have no Scout & Show tokens")
        for seat, chips in enumerate(fields.chips):
            if chips > TWO_PLAYER_CHIPS:
                faults.append(
                    f"seat {seat} has {chips} chips, two players have at most {TWO_PLAYER_CHIPS}"
                )
        return faults
    for seat in sorted(set(fields.tokens)):
        if fields.tokens.count(seat) > 1:
            faults.append(f"the token of seat {seat} is listed more than once")
        if seat >= players:
            faults.append(f"seat {seat} holds a token, {there_are}")
    return faults


def _flip_faults(fields: _Fields) -> list[str]:
    faults = []
    players = len(fields.hands)
    if fields.active:
        faults.append("flip phase: there is no active set yet")
    size = hand_size(players)
    for seat, hand in enumerate(fields.hands):
        if len(hand) != size:
            faults.append(f"flip phase: seat {seat} holds {len(hand)} cards, {size} were dealt")
    chips = TWO_PLAYER_CHIPS if players == 2 else 0
    for seat, points in enumerate(zip(fields.captured, fields.chips, strict=True)):
        if points != (0, chips):
            faults.append(
                f"flip phase: the points of seat {seat} are still 0+{chips}, "
                f"not {points[0]}+{points[1]}"
            )
    if players > 2:
        if set(range(players)) - set(fields.tokens):
            everybody = "".join([str(seat) for seat in range(players)])
            faults.append(f"flip phase: every token is still held ({everybody})")
        if fields.out:
            faults.append("flip phase: no card is captured yet, OUT is -")
    return faults


def _game_faults(game: Game, players: int) -> list[str]:
    faults = []
    if not 1 <= game.round <= players:
        faults.append(f"a game of {players} players has rounds 1 to {players}, not {game.round}")
    if len(game.scores) != players:
        faults.append(f"the game has points of {len(game.scores)} seats for {players} players")
    if any(abs(score) > MAX_NUMBER for score in game.scores):
        faults.append(f"points in the game go from -{MAX_NUMBER} to {MAX_NUMBER}")
    return faults


# The position -------------------------------------------------------------------------------


def _viewer(round: Round) -> int | None:
    """Whose view a position is: None for a full one, and when every hand has hidden cards.

    Of several open hands it is that of the seat to act, else the one with the lowest number.
    """
    open_seats = [seat for seat in range(round.players) if not round.hidden(seat)]
    if len(open_seats) == round.players or not open_seats:
        return None
    return round.turn if round.turn in open_seats else open_seats[0]


def _is_open(round: Round) -> bool:
    return not any(round.hidden(seat) for seat in range(round.players))


class Position:
    """A round as its text tells it, with the moves since the text's first position. Immutable.

    Made by `parse`, `from_round`, `from_deal`, `play` and `view`. Two positions are equal when
    their histories are, so the same cards reached in another order of moves are not equal;
    compare `str` for that.

    What `str` writes can be read again, and gives the same cards, points and moves. It does not
    hold the number of moves made and which cards were scouted before; `history` does. So a
    round that was cut after 1,000 moves is only over when it is read from its history.
    """

    __slots__ = ("_first", "_game", "_history", "_plies", "_round", "_text", "_viewer")

    def __init__(
        self,
        first: Round,
        plies: tuple[Ply, ...],
        round: Round,
        game: Game | None,
    ) -> None:
        """Put parts together that fit; callers use the class methods, which check."""
        self._first = first
        self._plies = plies
        self._round = round
        self._game = game
        self._viewer = _viewer(first)
        self._text: str | None = None
        self._history: str | None = None

    # Making one

    @classmethod
    def parse(cls, text: str) -> Position:
        """Read a position, with the moves played since if there are any.

        Args:
            text: six fields, perhaps a GAME field, perhaps `moves` and move tokens.

        Raises:
            NotationError: it is not written as a position.
            InconsistentPositionError: it cannot be.
            IllegalMoveError: one of its moves cannot be played.
        """
        words, tokens = _split(text)
        try:
            fields = _read_fields(words)
        except _InField as wrong:
            raise wrong.fault.error(text, f"the {wrong.field} field") from None
        moves = []
        for number, token in enumerate(tokens, 1):
            try:
                moves.append(_read_move(token))
            except _Syntax as fault:
                place = f"move {number}, {fault.place}" if fault.place else f"move {number}"
                where = _Syntax(fault.expected, fault.got, place)
                raise where.error(text, "the moves") from None
        faults = _faults(fields)
        if faults:
            raise InconsistentPositionError(faults)
        first = fields.round()
        round = first.copy()
        plies: list[Ply] = []
        for number, (token, (code, named)) in enumerate(zip(tokens, moves, strict=True), 1):
            try:
                ply = _play(round, code, named)
            except _Refusal as refusal:
                before = _write(_replay(first, plies), fields.game)
                raise IllegalMoveError(token, str(refusal), before, number) from None
            plies.append(ply)
        return cls(first, tuple(plies), round, fields.game)

    @classmethod
    def from_round(cls, round: Round, game: Game | None = None) -> Position:
        """The position of a round, without moves before it.

        Args:
            round: it is copied. What it knows beyond its text is kept: the number of moves made
                and the cards that were scouted, which `view` shows.
            game: the round's number and the points before it, if it belongs to a game.

        Raises:
            InconsistentPositionError: it cannot be.
            ValueError: it ended otherwise than by an empty hand, which only a move can tell.
        """
        if round.end not in ("", "i"):
            raise ValueError(
                f"a round that has ended ({round.end}) is told by the position before its last "
                "move and that move: give the round as it was before, then play the move"
            )
        fields = _Fields(
            tuple(round.hand(seat) for seat in range(round.players)),
            round.active,
            round.owner if round.active else -1,
            round.turn,
            round.start,
            tuple(seat for seat in range(round.players) if round.tokens >> seat & 1),
            round.forced_pass,
            round.captured,
            round.chips,
            round.out,
            game,
        )
        _check(fields)
        return cls(round.copy(), (), round.copy(), game)

    @classmethod
    def from_deal(
        cls,
        hands: Sequence[bytes],
        start: int,
        *,
        forced_pass: bool = False,
        game: Game | None = None,
    ) -> Position:
        """The beginning of a round: seat 0 has still to choose `keep` or `flip`.

        Args:
            hands: the row that was dealt to each seat; 0 for hidden cards.
            start: the seat that will move first.
            forced_pass: two players: pass only when nothing else is possible.
            game: the round's number and the points before it, if it belongs to a game.

        Raises:
            InconsistentPositionError: it cannot be.
        """
        players = len(hands)
        if not 2 <= players <= MAX_PLAYERS:
            raise InconsistentPositionError([f"there are {players} hands, not 2 to {MAX_PLAYERS}"])
        chips = TWO_PLAYER_CHIPS if players == 2 else 0
        fields = _Fields(
            hands=tuple(hands),
            active=b"",
            owner=-1,
            turn=0,
            start=start,
            tokens=() if players == 2 else tuple(range(players)),
            forced_pass=forced_pass,
            captured=(0,) * players,
            chips=(chips,) * players,
            out=b"",
            game=game,
        )
        faults = []
        if start < 0:
            faults.append(f"the starting seat is {start}, the seats are 0 to {players - 1}")
            fields = fields._replace(start=0)
        if forced_pass and players > 2:
            faults.append("a forced pass is for two players")
        _check(fields, faults)
        first = fields.round()
        return cls(first, (), first.copy(), game)

    def play(self, token: str) -> Position:
        """The position after one more move.

        Args:
            token: a move token; a Show of hidden cards has to name them (``S3-5:45.56.67``).

        Raises:
            NotationError: it is not a move token.
            IllegalMoveError: it cannot be played here.
        """
        code, named = parse_move(token)
        round = self._round.copy()
        ply = self._checked(round, token, code, named)
        return Position(self._first, (*self._plies, ply), round, self._game)

    def play_code(self, code: int) -> Position:
        """The position after one more move, given by its code; no hidden card is laid out.

        Raises:
            IllegalMoveError: it cannot be played here.
        """
        round = self._round.copy()
        ply = self._checked(round, format_move(code), code, b"")
        return Position(self._first, (*self._plies, ply), round, self._game)

    def view(self, seat: int) -> Position:
        """What one seat knows: its own hand, and the cards that others scouted in this round.

        The history is the seat's, too: its first position is seen by the seat, and the Shows of
        the others name their cards. A position with hidden cards is what one viewer knows
        already, so all that it shows of a running round is taken for public.

        Args:
            seat: whose view; its hand must be open since the first position.

        Raises:
            HiddenHandError: the hand of that seat is hidden.
            ValueError: there is no such seat.
        """
        if not 0 <= seat < self.players:
            raise ValueError(f"there is no seat {seat}, the seats are 0 to {self.players - 1}")
        if self._first.hidden(seat):
            raise HiddenHandError(
                f"the hand of seat {seat} is hidden, its view is not known: {_quote(self.history)}"
            )
        if self._first.start < 0 and not _is_open(self._first):
            return self
        return Position(self._first.view(seat), self._plies, self._round.view(seat), self._game)

    # Asking it

    @property
    def round(self) -> Round:
        """The round that results from the moves: a copy, the caller's own."""
        return self._round.copy()

    @property
    def first(self) -> Round:
        """The round as the first position of the history gives it: a copy, the caller's own."""
        return self._first.copy()

    @property
    def plies(self) -> tuple[Ply, ...]:
        """The moves since the first position."""
        return self._plies

    @property
    def moves(self) -> tuple[str, ...]:
        """The moves since the first position as tokens, as `history` writes them."""
        named = not _is_open(self._first)
        return tuple([self._written(ply, named) for ply in self._plies])

    @property
    def players(self) -> int:
        """How many play: 2 to 5."""
        return self._round.players

    @property
    def turn(self) -> int:
        """The seat that acts now: moves, or chooses in the flip phase."""
        return self._round.turn

    @property
    def start(self) -> int:
        """In the flip phase the seat that will move first, else -1."""
        return self._round.start

    @property
    def flipping(self) -> bool:
        """Whether the seat `turn` has still to choose `keep` or `flip`."""
        return self._round.start >= 0

    @property
    def game(self) -> Game | None:
        """The round's number and the points before it; None when the text does not say."""
        return self._game

    @property
    def viewer(self) -> int | None:
        """The seat whose view this is; None for a full position or when no hand is open.

        When several hands are open and others are not, it is the seat to act in the first
        position of the history if its hand is open, else the lowest seat with an open hand.
        """
        return self._viewer

    @property
    def is_open(self) -> bool:
        """Whether no card is hidden in any hand."""
        return _is_open(self._round)

    @property
    def is_over(self) -> bool:
        """Whether the round has ended."""
        return bool(self._round.end)

    @property
    def end(self) -> str:
        """How the round ended: `i`, `ii` or `cut`; empty while it runs."""
        return self._round.end

    def points(self) -> tuple[int, ...]:
        """Points of each seat in this round; in a round that runs everybody pays for the hand."""
        return self._round.points()

    def legal_moves(self, every: bool = False) -> list[str]:
        """The legal moves in canonical order; none when the round is over.

        Args:
            every: list every legal token, not only the first of those with the same outcome.

        Raises:
            HiddenHandError: the hand of the seat to act has hidden cards, also in the flip phase.
        """
        round = self._round
        if round.end:
            return []
        if round.hidden(round.turn):
            raise HiddenHandError(
                f"the hand of seat {round.turn}, which is to move, is hidden: {_quote(str(self))}"
            )
        codes = round.all_moves() if every else round.moves()
        return [format_move(code) for code in codes]

    def code(self, token: str) -> int:
        """The code of a legal token, as it would be played.

        Not replaced by another move with the same outcome; but the only card of an active set is
        always scouted from the left.

        Raises:
            NotationError: it is not a move token.
            IllegalMoveError: it cannot be played here.
        """
        code, named = parse_move(token)
        return self._checked(self._round.copy(), token, code, named).code

    def token(self, code: int) -> str:
        """The token of a move code in this position, without the names of cards.

        Raises:
            ValueError: no move has this code.
        """
        return format_move(left_when_single(self._round, code))

    def token_with(self, code: int, cards: bytes) -> str:
        """The token of a move code in this position, as the history would write it.

        Args:
            code: a move code.
            cards: what the Show lays out; empty for other moves. They are named for seats other
                than the viewer, never in full positions.

        Raises:
            ValueError: no move has this code.
        """
        ply = Ply(self.turn, left_when_single(self._round, code), cards)
        return self._written(ply, not _is_open(self._first))

    # Writing it

    def __str__(self) -> str:
        """The resulting position in canonical form.

        Without moves, except that a round which ended otherwise than by an empty hand is written
        as the position before its last move, `moves` and that move.
        """
        if self._text is None:
            if self._round.end in ("", "i"):
                self._text = _write(self._round, self._game)
            else:
                before = _replay(self._first, self._plies[:-1])
                last = self._written(self._plies[-1], not _is_open(before))
                self._text = f"{_write(before, self._game)} moves {last}"
        return self._text

    @property
    def history(self) -> str:
        """The first position, and if there were any, `moves` and their tokens."""
        if self._history is None:
            text = _write(self._first, self._game)
            moves = self.moves
            self._history = f"{text} moves {' '.join(moves)}" if moves else text
        return self._history

    def __repr__(self) -> str:
        """Code that makes this position."""
        return f"Position.parse({self.history!r})"

    def __eq__(self, other: object) -> bool:
        """Whether the other is a position with the same history."""
        return self.history == other.history if isinstance(other, Position) else NotImplemented

    def __hash__(self) -> int:
        """Equal positions have equal hashes."""
        return hash(self.history)

    def _written(self, ply: Ply, named: bool) -> str:
        """A token; its cards are named for seats other than the viewer unless all see them."""
        cards = ply.cards if named and ply.seat != self._viewer else b""
        return format_move(ply.code, cards)

    def _checked(self, round: Round, token: str, code: int, named: bytes) -> Ply:
        """Play on `round`, a copy of this position's."""
        try:
            return _play(round, code, named)
        except _Refusal as refusal:
            raise IllegalMoveError(token, str(refusal), str(self)) from None


def _check(fields: _Fields, faults: Sequence[str] = ()) -> None:
    faults = [*faults, *_faults(fields)]
    if faults:
        raise InconsistentPositionError(faults)
