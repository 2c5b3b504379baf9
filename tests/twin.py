"""A slow, plain Python SCOUT, written from the rules and the notation alone.

The tests compare the compiled core with this module, and the benchmarks use it as the plain
Python baseline.  It shares no code with the package.  Nothing here is clever: every rule is
written where it applies, every list is made by trying, and a round never changes; to play a move
makes another round.

Words: a *hand* is an ordered row of cards, the *active set* lies on the table and has an *owner*,
a *scout* takes one end card of it, a *show* lays out a block that beats it.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

Card = tuple[int, int]
"""The active number and the other number."""
Row = tuple[Card, ...]
"""A hand or a set, from left to right."""

HIDDEN: Card = (0, 0)
"""A card that the viewer has never seen."""
MOVE_LIMIT = 1000
"""A round is stopped after so many moves; a Scout & Show is one, flips do not count."""
HAND_SIZES = {2: 11, 3: 12, 4: 11, 5: 9}
TWO_PLAYER_CHIPS = 3


class IllegalMoveError(ValueError):
    """The move breaks a rule in this position."""


class BadTextError(ValueError):
    """The text is not a position or a move token in its canonical form."""


# --- cards and decks ------------------------------------------------------------------------------


def flipped(card: Card) -> Card:
    """The card with its two numbers exchanged."""
    return (card[1], card[0])


def plain(card: Card) -> Card:
    """The card with its lower number first: its name, whichever way it lies."""
    return (min(card), max(card))


def numbers(cards: Iterable[Card]) -> list[int]:
    """The active numbers, from left to right."""
    return [card[0] for card in cards]


def deck(players: int) -> list[Card]:
    """Every card of the deck for that many players, lower number first, ascending."""
    cards = [(low, high) for low in range(1, 11) for high in range(low + 1, 11)]
    if players == 3:
        return [card for card in cards if 10 not in card]
    if players in (2, 4):
        return [card for card in cards if card != (9, 10)]
    return cards


def cards_in_play(players: int) -> int:
    """How many cards are dealt in one round."""
    return players * HAND_SIZES[players]


# --- sets -----------------------------------------------------------------------------------------


def is_equal(values: Sequence[int]) -> bool:
    """All numbers are the same (a single card counts so)."""
    return len(set(values)) == 1


def is_run(values: Sequence[int]) -> bool:
    """The numbers rise by one from card to card, or fall by one from card to card."""
    first, length = values[0], len(values)
    rising = list(range(first, first + length))
    falling = list(range(first, first - length, -1))
    return length > 1 and list(values) in (rising, falling)


def is_block(values: Sequence[int]) -> bool:
    """These neighbouring numbers may be shown together; never true with a hidden card."""
    if len(values) == 0 or 0 in values:
        return False
    return is_equal(values) or is_run(values)


def beats(ours: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether one block beats another; every block beats an empty table."""
    if len(ours) != len(theirs):
        return len(ours) > len(theirs)
    if is_equal(ours) != is_equal(theirs):
        return is_equal(ours)
    return min(ours) > min(theirs)


# --- the notation of cards and moves --------------------------------------------------------------

DIGITS = "0123456789T"


def write_card(card: Card) -> str:
    """The two characters of a known card."""
    return DIGITS[card[0]] + DIGITS[card[1]]


def read_card(text: str) -> Card:
    """The card that two characters name; BadTextError when they do not."""
    if not re.fullmatch(r"[1-9T][1-9T]", text) or text[0] == text[1]:
        raise BadTextError(f"expected a card of two different numbers: {text!r}")
    return (DIGITS.index(text[0]), DIGITS.index(text[1]))


def write_row(cards: Sequence[Card]) -> str:
    """A row with dots between its items; hidden neighbours become one ``x4``."""
    if not cards:
        return "-"
    items: list[str] = []
    hidden = 0
    for card in [*cards, None]:
        if card == HIDDEN:
            hidden += 1
            continue
        if hidden:
            items.append("x" if hidden == 1 else f"x{hidden}")
            hidden = 0
        if card is not None:
            items.append(write_card(card))
    return ".".join(items)


def read_row(text: str) -> Row:
    """The row that a text of dots, cards and ``x`` items names."""
    if text == "-":
        return ()
    cards: list[Card] = []
    for item in text.split("."):
        match = re.fullmatch(r"x([1-9][0-9]?)?", item)
        if match:
            cards += [HIDDEN] * int(match[1] or 1)
        else:
            cards.append(read_card(item))
    return tuple(cards)


class Move(NamedTuple):
    """A move token taken apart.  Places count from 1; what does not apply is 0, False or empty."""

    word: str = ""
    """``keep``, ``flip`` or ``pass``; empty for the rest."""
    end: str = ""
    """The end that is scouted from, ``L`` or ``R``."""
    place: int = 0
    """The place that the scouted card gets."""
    turned: bool = False
    first: int = 0
    """First place of the block that is shown, after the scouted card was put in."""
    last: int = 0
    cards: Row = ()
    """What is shown, where the token says it."""


TOKEN = re.compile(
    r"(?:([LR])([1-9][0-9]?)(~)?)?"
    r"(?:(\+?)S([1-9][0-9]?)(?:-([1-9][0-9]?))?(?::([0-9T.]+))?)?"
)


def read_move(token: str) -> Move:
    """Take a token apart; BadTextError when it is none."""
    if token in ("keep", "flip", "pass"):
        return Move(word=token)
    match = TOKEN.fullmatch(token)
    if not token or not match:
        raise BadTextError(f"expected a move: {token!r}")
    end, place, turned, plus, first, last, cards = match.groups()
    if bool(plus) != bool(end and first):
        raise BadTextError(f"expected a move: {token!r}")
    if last and int(last) <= int(first):
        raise BadTextError(f"expected a block from left to right: {token!r}")
    return Move(
        end=end or "",
        place=int(place or 0),
        turned=bool(turned),
        first=int(first or 0),
        last=int(last or first or 0),
        cards=tuple(read_card(card) for card in cards.split(".")) if cards else (),
    )


def write_move(move: Move) -> str:
    """The token of a move."""
    if move.word:
        return move.word
    parts = []
    if move.end:
        parts.append(f"{move.end}{move.place}{'~' if move.turned else ''}")
    if move.first:
        block = f"S{move.first}" if move.first == move.last else f"S{move.first}-{move.last}"
        parts.append(block + (":" + write_row(move.cards) if move.cards else ""))
    return "+".join(parts)


# --- a round --------------------------------------------------------------------------------------


def shows(hand: Sequence[Card], active: Sequence[Card]) -> list[str]:
    """The tokens of all Shows that a hand has against a set, by first, then by last place."""
    values = numbers(hand)
    target = numbers(active)
    tokens = []
    for first in range(len(values)):
        for last in range(first, len(values)):
            block = values[first : last + 1]
            if not is_block(block):
                break  # no longer block can begin here
            if beats(block, target):
                tokens.append(write_move(Move(first=first + 1, last=last + 1)))
    return tokens


def scouts(hand: Sequence[Card], active: Sequence[Card]) -> list[str]:
    """The tokens of all Scouts, L before R, by place, unturned before turned."""
    ends = "L" if len(active) == 1 else "LR"
    return [
        write_move(Move(end=end, place=place, turned=turned))
        for end in ends
        for place in range(1, len(hand) + 2)
        for turned in (False, True)
    ]


def scout(hand: Sequence[Card], active: Sequence[Card], move: Move) -> tuple[list[Card], Row, Card]:
    """The hand and the set after a Scout, and the card that was taken, as it lay on the table."""
    card = active[0] if move.end == "L" else active[-1]
    rest = active[1:] if move.end == "L" else active[:-1]
    longer = list(hand)
    longer.insert(move.place - 1, flipped(card) if move.turned else card)
    return longer, tuple(rest), card


def changed(values: tuple[int, ...], place: int, by: int) -> tuple[int, ...]:
    """The tuple with one of its numbers changed by so much."""
    return (*values[:place], values[place] + by, *values[place + 1 :])


@dataclass(frozen=True, slots=True)
class Round:
    """A round at one moment, as one viewer knows it; it never changes."""

    hands: tuple[Row, ...]
    active: Row = ()
    owner: int | None = None
    turn: int = 0
    """The seat that acts now."""
    start: int | None = None
    """In the flip phase the seat that will move first, otherwise None."""
    tokens: frozenset[int] = frozenset()
    """The seats that still hold Scout & Show."""
    captured: tuple[int, ...] = ()
    chips: tuple[int, ...] = ()
    forced_pass: bool = False
    """Two players: pass only when neither Show nor Scout is possible."""
    out: Row = ()
    """The captured cards that are known, lower number first, ascending."""
    seen: frozenset[Card] = frozenset()
    """The cards scouted in this round, lower number first: everybody knows them in a hand."""
    made: int = 0
    """Moves made since the first position."""
    end: str = ""
    """Empty while the round runs, then ``i``, ``ii`` or ``cut``."""
    game: tuple[int, tuple[int, ...]] | None = None
    """The round's number and the points before it, where the text says them."""
    before: Round | None = field(default=None, compare=False)
    """For a round ended by ``ii`` or ``cut``: the position before its last move."""
    final: str = field(default="", compare=False)
    """For the same: that last move."""

    @property
    def players(self) -> int:
        """How many players there are."""
        return len(self.hands)

    # What is allowed

    def may_scout(self) -> bool:
        """There is an active set, and with two players a chip to pay with."""
        return len(self.active) > 0 and (self.players > 2 or self.chips[self.turn] > 0)

    def may_scout_and_show(self) -> bool:
        """As far as the Scout and the token go."""
        return self.players > 2 and self.may_scout() and self.turn in self.tokens

    def may_pass(self) -> bool:
        """Two players, against an active set; in the forced edition only when nothing else is
        possible (as far as the cards of the hand are known)."""
        if self.players > 2 or len(self.active) == 0:
            return False
        if self.forced_pass:
            return not self.may_scout() and not shows(self.hands[self.turn], self.active)
        return True

    def legal_tokens(self) -> list[str]:
        """Every legal token in canonical order; ``R`` on a one-card set is not counted.

        Raises ValueError when the hand that acts has hidden cards.
        """
        if self.end:
            return []
        if self.start is not None:
            return ["keep", "flip"]
        hand = self.hands[self.turn]
        if HIDDEN in hand:
            raise ValueError("the moves of a hidden hand cannot be listed")
        tokens = shows(hand, self.active)
        if self.may_scout():
            tokens += scouts(hand, self.active)
        if self.may_scout_and_show():
            for token in scouts(hand, self.active):
                longer, rest, _ = scout(hand, self.active, read_move(token))
                tokens += [token + "+" + show for show in shows(longer, rest)]
        if self.may_pass():
            tokens.append("pass")
        return tokens

    def outcomes(self) -> list[tuple[str, Round]]:
        """For every outcome its first token in canonical order, and the round it leads to.

        Every token is played, and what it leads to is compared with all that came before.
        """
        found: list[tuple[str, Round]] = []
        known: set[tuple[object, ...]] = set()
        for token in self.legal_tokens():
            after = self.play(token)
            # Whatever a move can change.
            outcome = (
                after.hands,
                after.active,
                after.owner,
                after.turn,
                after.start,
                after.tokens,
                after.captured,
                after.chips,
                after.out,
                after.end,
            )
            if outcome not in known:
                known.add(outcome)
                found.append((token, after))
        return found

    def moves(self) -> list[str]:
        """One token for every outcome, in canonical order; none when the round is over."""
        return [token for token, _ in self.outcomes()]

    # What happens

    def play(self, token: str) -> Round:
        """The round after this move of the seat whose turn it is.

        Raises BadTextError when it is no token, IllegalMoveError when it breaks a rule.
        """
        move = read_move(token)
        if self.end:
            raise IllegalMoveError("the round is over")
        if self.start is not None:
            return self._choose(move)
        if move.word == "pass":
            if not self.may_pass():
                raise IllegalMoveError("pass is not allowed here")
            return self._closed(replace(self, made=self.made + 1, end="ii"), move)
        if move.word:
            raise IllegalMoveError("keep and flip belong to the flip phase")
        return self._act(move)

    def _choose(self, move: Move) -> Round:
        if move.word not in ("keep", "flip"):
            raise IllegalMoveError("keep or flip comes first")
        hands = list(self.hands)
        if move.word == "flip":
            hands[self.turn] = tuple(flipped(card) for card in hands[self.turn])
        if self.turn + 1 < self.players:
            return replace(self, hands=tuple(hands), turn=self.turn + 1)
        assert self.start is not None
        return replace(self, hands=tuple(hands), turn=self.start, start=None)

    def _act(self, move: Move) -> Round:
        """A Scout, a Show, or a Scout and a Show."""
        seat = self.turn
        hand = list(self.hands[seat])
        active, owner, tokens = self.active, self.owner, self.tokens
        captured, chips, out, seen = self.captured, self.chips, self.out, self.seen

        if move.end and move.first:
            if seat not in tokens:
                raise IllegalMoveError("no Scout & Show token")
            tokens = tokens - {seat}

        if move.end:
            if owner is None or not active:
                raise IllegalMoveError("no active set to scout from")
            if not self.may_scout():
                raise IllegalMoveError("no chip to pay the Scout with")
            if move.place > len(hand) + 1:
                raise IllegalMoveError(f"no place {move.place} in this hand")
            hand, active, card = scout(hand, active, move)
            seen = seen | {plain(card)}
            # Two players pay for a Scout themselves, to the middle; else the owner gains a chip.
            chips = changed(chips, seat, -1) if self.players == 2 else changed(chips, owner, +1)

        if move.first:
            if move.last > len(hand):
                raise IllegalMoveError(f"no card at place {move.last}")
            block = self._block(hand[move.first - 1 : move.last], move.cards)
            if not is_block(numbers(block)):
                raise IllegalMoveError("neither equal numbers nor a run")
            if not beats(numbers(block), numbers(active)):
                raise IllegalMoveError("does not beat the active set")
            captured = changed(captured, seat, len(active))
            out = tuple(sorted([*out, *(plain(card) for card in active)]))
            del hand[move.first - 1 : move.last]
            active, owner = block, seat

        turn = (seat + 1) % self.players
        end = ""
        if move.first:
            if not hand:
                end = "i"
        elif self.players == 2:
            turn = seat  # the turn goes on after a Scout
        elif turn == owner:
            end = "ii"
        if not end and self.made + 1 == MOVE_LIMIT:
            end = "cut"
        if not active and not end:
            owner = None
        after = Round(
            hands=(*self.hands[:seat], tuple(hand), *self.hands[seat + 1 :]),
            active=active,
            owner=owner,
            turn=turn,
            start=None,
            tokens=tokens,
            captured=captured,
            chips=chips,
            forced_pass=self.forced_pass,
            out=out,
            seen=seen,
            made=self.made + 1,
            end=end,
            game=self.game,
        )
        return self._closed(after, move) if end in ("ii", "cut") else after

    def _block(self, block: Sequence[Card], said: Row) -> Row:
        """The cards that a Show lays out: what the hand holds, or what the token says they are."""
        if not said:
            if HIDDEN in block:
                raise IllegalMoveError("a Show of hidden cards must say the cards")
            return tuple(block)
        if len(said) != len(block):
            raise IllegalMoveError("the token says more or fewer cards than it shows")
        for known, card in zip(block, said, strict=True):
            if known == card:
                continue
            if known != HIDDEN:
                raise IllegalMoveError("the token says other cards than the hand holds")
            if plain(card) not in unseen_cards(self) or occurrences(card, said) > 1:
                raise IllegalMoveError("the token says a card that cannot be there")
        return said

    def _closed(self, after: Round, move: Move) -> Round:
        """Add what the text of a round ended by ``ii`` or ``cut`` needs."""
        token = self.public_token(write_move(move._replace(cards=())), None, move.cards)
        return replace(after, before=self, final=token)

    def points(self) -> tuple[int, ...]:
        """Each seat's points; a round that still runs counts as cut, so everybody pays."""
        totals = []
        for seat in range(self.players):
            total = self.captured[seat] + self.chips[seat]
            if not (self.end == "ii" and seat == self.owner):
                total -= len(self.hands[seat])
            totals.append(total)
        return tuple(totals)

    # What a seat knows

    def view(self, seat: int) -> Round:
        """The round as that seat knows it: the own hand, and of the others' hands the cards
        scouted in this round."""
        if HIDDEN in self.hands[seat]:
            raise ValueError(f"the hand of seat {seat} is hidden")
        hands = tuple(
            hand
            if other == seat
            else tuple(card if plain(card) in self.seen else HIDDEN for card in hand)
            for other, hand in enumerate(self.hands)
        )
        if self.before is None:
            return replace(self, hands=hands)
        return replace(
            self,
            hands=hands,
            before=self.before.view(seat),
            final=self.before.public_token(self.final, seat),
        )

    def public_token(self, token: str, viewer: int | None, said: Row = ()) -> str:
        """A move of the seat whose turn it is, as it is written for a viewer (None: for one who
        sees all hands): with the cards of a Show by another seat.

        ``said``: the cards shown, where this round does not know them.
        """
        move = read_move(token)
        said = said or move.cards
        if move.end == "R" and len(self.active) == 1:
            move = move._replace(end="L")
        if not move.first:
            return write_move(move)
        hand: Sequence[Card] = self.hands[self.turn]
        if move.end:
            hand, _, _ = scout(hand, self.active, move)
        block = tuple(hand[move.first - 1 : move.last])
        if HIDDEN in block:
            return write_move(move._replace(cards=said))
        foreign = viewer is not None and viewer != self.turn
        return write_move(move._replace(cards=block if foreign else ()))

    # Text

    def text(self) -> str:
        """The canonical text of the resulting position."""
        if self.before is not None:
            return f"{self.before.text()} moves {self.final}"
        turn = str(self.turn) if self.start is None else f"{self.turn}f{self.start}"
        tokens = "".join(str(seat) for seat in sorted(self.tokens))
        if self.players == 2:
            tokens = "f" if self.forced_pass else ""
        fields = [
            "/".join(write_row(hand) for hand in self.hands),
            f"{write_row(self.active)}@{self.owner}" if self.active else "-",
            turn,
            tokens or "-",
            "/".join(f"{a}+{b}" for a, b in zip(self.captured, self.chips, strict=True)),
            write_row(sorted(plain(card) for card in self.out)),
        ]
        if self.game is not None:
            number, points = self.game
            fields.append(f"{number}:{'/'.join(str(value) for value in points)}")
        return " ".join(fields)


def occurrences(card: Card, cards: Iterable[Card]) -> int:
    """How many times a card lies in a row, whichever way."""
    return [plain(other) for other in cards].count(plain(card))


# --- reading positions ----------------------------------------------------------------------------


def read_position(text: str) -> Round:
    """The round that a canonical text describes, after its moves.

    A text with hidden cards is one viewer's: every card that it shows in a hand is then taken for
    known to that viewer.  A text without is a full one, and says nothing about what was scouted.
    Raises BadTextError when the text is not canonical or not consistent.
    """
    head, mark, tokens = text.partition(" moves ")
    state = read_fields(head)
    if state.text() != head:
        raise BadTextError(f"not in canonical form: {head!r}, expected {state.text()!r}")
    found = faults(state)
    if found:
        raise BadTextError("; ".join(found))
    if mark:
        for token in tokens.split(" "):
            state = state.play(token)
    return state


def read_fields(text: str) -> Round:
    """The round that the fields of a text describe, consistent or not."""
    fields = text.split(" ")
    if len(fields) not in (6, 7):
        raise BadTextError(f"expected six or seven fields: {text!r}")
    hands = tuple(read_row(hand) for hand in fields[0].split("/"))
    if not 2 <= len(hands) <= 5:
        raise BadTextError(f"expected 2 to 5 hands: {fields[0]!r}")

    active: Row = ()
    owner = None
    if fields[1] != "-":
        cards, _, seat = fields[1].partition("@")
        active, owner = read_row(cards), read_number(seat)

    turn, phase, starter = fields[2].partition("f")
    marks = "" if fields[3] == "-" else fields[3]
    forced_pass = len(hands) == 2 and marks == "f"
    points = [seat.partition("+") for seat in fields[4].split("/")]

    game = None
    if len(fields) == 7:
        number, _, totals = fields[6].partition(":")
        game = (
            read_number(number),
            tuple(
                -read_number(total[1:]) if total.startswith("-") else read_number(total)
                for total in totals.split("/")
            ),
        )
    shown = frozenset(plain(card) for hand in hands for card in hand if card != HIDDEN)
    is_view = any(HIDDEN in hand for hand in hands)
    over = any(len(hand) == 0 for hand in hands)
    return Round(
        hands=hands,
        active=active,
        owner=owner,
        turn=read_number(turn),
        start=read_number(starter) if phase else None,
        tokens=frozenset() if forced_pass else frozenset(read_number(mark) for mark in marks),
        captured=tuple(read_number(cards) for cards, _, _ in points),
        chips=tuple(read_number(chips) for _, _, chips in points),
        forced_pass=forced_pass,
        out=read_row(fields[5]),
        seen=shown if is_view else frozenset(),
        end="i" if over else "",
        game=game,
    )


def read_number(text: str) -> int:
    """A number from 0 to 999 without leading zeros or signs."""
    if not re.fullmatch(r"0|[1-9][0-9]{0,2}", text):
        raise BadTextError(f"expected a number from 0 to 999: {text!r}")
    return int(text)


def faults(state: Round) -> list[str]:
    """Everything about a position that cannot be, in words; nothing when it is consistent."""
    players = state.players
    found = []
    every = [card for hand in state.hands for card in hand] + [*state.active, *state.out]
    known = [plain(card) for card in every if card != HIDDEN]
    for card in sorted(set(known)):
        if known.count(card) > 1:
            found.append(f"card {write_card(card)} appears twice")
        if card not in deck(players):
            found.append(f"card {write_card(card)} is not in the deck")
    if HIDDEN in state.active or HIDDEN in state.out:
        found.append("hidden cards lie in hands only")
    if len(state.captured) != players:
        return [*found, "points for another number of seats"]
    held = sum(len(hand) for hand in state.hands)
    total = held + len(state.active) + sum(state.captured)
    if total != cards_in_play(players):
        found.append(f"{total} cards instead of {cards_in_play(players)}")
    if players > 2 and len(state.out) > sum(state.captured):
        found.append("more captured cards listed than captured")
    hidden = sum(hand.count(HIDDEN) for hand in state.hands)
    if hidden > len(unseen_cards(state)):
        found.append("fewer cards unseen than hidden")
    if state.active and not is_block(numbers(state.active)):
        found.append("the active set is neither equal nor a run")
    if state.owner is not None and state.owner >= players:
        found.append("the owner does not exist")
    if state.turn >= players:
        found.append("the seat to move does not exist")
    if state.owner == state.turn:
        found.append("the owner is the seat to move")
    if any(seat >= players for seat in state.tokens):
        found.append("a token of a seat that does not exist")
    if players == 2 and state.tokens:
        found.append("two players have no tokens")
    if players == 2 and max(state.chips) > TWO_PLAYER_CHIPS:
        found.append("more than 3 chips")
    if state.game is not None:
        number, points = state.game
        if not 1 <= number <= players or len(points) != players:
            found.append("no such round, or points of another number of seats")
    if state.start is not None:
        if state.start >= players:
            found.append("the starting seat does not exist")
        if state.active or any(len(hand) != HAND_SIZES[players] for hand in state.hands):
            found.append("flip phase: the hands are as dealt")
        fresh = first_position(state.hands, 0)
        if (state.captured, state.chips, state.tokens) != (
            fresh.captured,
            fresh.chips,
            fresh.tokens,
        ):
            found.append("flip phase: no points yet, every token held")
        if players > 2 and state.out:
            found.append("flip phase: nothing is captured")
    return found


# --- the deal -------------------------------------------------------------------------------------


def first_position(hands: Sequence[Sequence[Card]], start: int, forced_pass: bool = False) -> Round:
    """The flip phase of a round with these hands, before anybody has chosen."""
    players = len(hands)
    return Round(
        hands=tuple(tuple(hand) for hand in hands),
        start=start,
        tokens=frozenset(range(players)) if players > 2 else frozenset(),
        captured=(0,) * players,
        chips=(0 if players > 2 else TWO_PLAYER_CHIPS,) * players,
        forced_pass=forced_pass,
    )


def first_start(hands: Sequence[Sequence[Card]]) -> int:
    """The seat that starts a game: the holder of the 1/2 card; nobody has it: seat 0."""
    for seat, hand in enumerate(hands):
        if (1, 2) in hand or (2, 1) in hand:
            return seat
    return 0


def deal(
    players: int,
    rng: random.Random,
    cards: Sequence[Card] | None = None,
    forced_pass: bool = False,
) -> Round:
    """Shuffle, turn every card at random, deal.

    ``cards``: what to deal instead of the deck (two players' second round).
    """
    cards = list(deck(players) if cards is None else cards)
    rng.shuffle(cards)
    cards = [flipped(card) if rng.random() < 0.5 else card for card in cards]
    size = HAND_SIZES[players]
    hands = [cards[seat * size : (seat + 1) * size] for seat in range(players)]
    return first_position(hands, first_start(hands), forced_pass)


# --- counting -------------------------------------------------------------------------------------


def perft(state: Round, depth: int) -> int:
    """How many paths of so many moves there are, one move for every outcome; a path that ends
    the round earlier counts once."""
    if state.start is not None:
        raise ValueError("the flip phase is not part of perft")
    if depth == 0 or state.end:
        return 1
    if depth == 1:
        return len(state.moves())
    return sum(perft(after, depth - 1) for _, after in state.outcomes())


# --- players --------------------------------------------------------------------------------------

Policy = Callable[[Round, random.Random], str]
"""Chooses one of the moves of a round in which the hand that acts is open."""

SHOW, SCOUT, SCOUT_AND_SHOW, OTHER = "show", "scout", "scout and show", "other"


def kind(move: Move) -> str:
    """Which of the actions a move is."""
    if move.end:
        return SCOUT_AND_SHOW if move.first else SCOUT
    return SHOW if move.first else OTHER


def random_move(state: Round, rng: random.Random) -> str:
    """One of the moves, each outcome equally likely."""
    return rng.choice(state.moves())


def hand_worth(values: Sequence[int]) -> float:
    """The planner's h: the sum over all blocks of two or more neighbours, blocks inside blocks
    included, of the length of a run, or of the length and a half of equal numbers."""
    total = 0.0
    for first in range(len(values)):
        for last in range(first + 1, len(values)):
            block = values[first : last + 1]
            if is_equal(block):
                total += len(block) + 0.5
            elif is_run(block):
                total += len(block)
            else:
                break  # no longer block can begin here
    return total


def wants_flip(hand: Sequence[Card]) -> bool:
    """Whether planner and greedy flip this hand: the other side is worth strictly more."""
    return hand_worth([card[1] for card in hand]) > hand_worth([card[0] for card in hand])


def planner_values(state: Round, scout_cost: float = 1.0) -> list[tuple[str, float]]:
    """Every move, in canonical order, with the planner's value of it."""
    seat = state.turn
    values = []
    for token, after in state.outcomes():
        move = read_move(token)
        if move.word == "pass":
            value = float(-len(state.hands[seat]))
        else:
            hand = after.hands[seat]
            value = 0.25 * hand_worth(numbers(hand)) - len(hand)
            if move.first:
                value += len(state.active)
            if move.end:
                value -= scout_cost
        values.append((token, value))
    return values


def planner_move(state: Round, scout_cost: float = 1.0) -> str:
    """The move of highest value; ties: a Scout before a Show before a Scout & Show before a pass,
    then the first in canonical order."""
    if state.start is not None:
        return "flip" if wants_flip(state.hands[state.turn]) else "keep"
    order = [SCOUT, SHOW, SCOUT_AND_SHOW, OTHER]
    best = ""
    best_key = (-math.inf, 0)
    for token, value in planner_values(state, scout_cost):
        key = (value, -order.index(kind(read_move(token))))
        if not best or key > best_key:
            best, best_key = token, key
    return best


def planner(state: Round, rng: random.Random) -> str:
    """The planner with its usual Scout cost, as a policy; it uses no chance."""
    return planner_move(state)


def greedy(state: Round, rng: random.Random) -> str:
    """The longest Show, or a random Scout; with its token the Scout & Show of the longest Show,
    unless a plain Show is at least two cards longer."""
    if state.start is not None:
        return "flip" if wants_flip(state.hands[state.turn]) else "keep"
    tokens = state.moves()

    def of_kind(wanted: str) -> list[str]:
        return [token for token in tokens if kind(read_move(token)) == wanted]

    def shown(token: str) -> int:
        move = read_move(token)
        return move.last - move.first + 1

    # max() keeps the first of equals, and the tokens are in canonical order.
    show = max(of_kind(SHOW), key=shown, default="")
    both = max(of_kind(SCOUT_AND_SHOW), key=shown, default="")
    if both and not (show and shown(show) >= shown(both) + 2):
        return both
    if show:
        return show
    if of_kind(SCOUT):
        return rng.choice(of_kind(SCOUT))
    return "pass"


def play_out(state: Round, policies: Sequence[Policy], rng: random.Random) -> Iterator[Round]:
    """Play on to the end with one policy for every seat; every round on the way, the last too."""
    while not state.end:
        state = state.play(policies[state.turn](state, rng))
        yield state


def play_round(state: Round, policies: Sequence[Policy], rng: random.Random) -> Round:
    """The end of this round, played with one policy for every seat."""
    for after in play_out(state, policies, rng):
        state = after
    return state


def random_round(players: int, rng: random.Random, forced_pass: bool = False) -> Round:
    """Deal, and play random moves (random flips too) to the end."""
    return play_round(deal(players, rng, forced_pass=forced_pass), [random_move] * players, rng)


def planner_round(players: int, rng: random.Random, forced_pass: bool = False) -> Round:
    """Deal, and let planners play to the end."""
    return play_round(deal(players, rng, forced_pass=forced_pass), [planner] * players, rng)


# --- hidden hands ---------------------------------------------------------------------------------


def unseen_cards(state: Round) -> list[Card]:
    """The cards of the deck that lie nowhere in this position, ascending."""
    known = {plain(card) for hand in state.hands for card in hand}
    known |= {plain(card) for card in [*state.active, *state.out]}
    return [card for card in deck(state.players) if card not in known]


def sample(state: Round, rng: random.Random) -> Round:
    """A full round that this view could be: the unseen cards, shuffled and turned at random, on
    the hidden places."""
    cards = unseen_cards(state)
    rng.shuffle(cards)
    hands = []
    for hand in state.hands:
        filled = []
        for card in hand:
            if card != HIDDEN:
                filled.append(card)
                continue
            drawn = cards.pop()
            filled.append(flipped(drawn) if rng.random() < 0.5 else drawn)
        hands.append(tuple(filled))
    return replace(state, hands=tuple(hands))


# --- search ---------------------------------------------------------------------------------------

MARGIN_SPAN = 40
"""Points: a margin of plus or minus half of it, or more, counts as a reward of 1 or 0."""


@dataclass
class Node:
    """What the search knows about one sequence of moves that the observer can tell apart."""

    visits: int = 0
    available: int = 0
    """How often the move was possible when its parent was visited."""
    total: float = 0.0
    """Sum of the rewards of the seat that made the move."""
    children: dict[str, Node] = field(default_factory=dict)

    def bound(self, explore: float) -> float:
        """The upper confidence bound, with availability in the place of the parent's visits."""
        mean = self.total / self.visits
        return mean + explore * math.sqrt(math.log(self.available) / self.visits)


def rewards(points: Sequence[int]) -> list[float]:
    """Each seat's margin over the others' mean, brought to 0 to 1."""
    result = []
    for own in points:
        margin = own - (sum(points) - own) / (len(points) - 1)
        result.append(min(1.0, max(0.0, 0.5 + margin / MARGIN_SPAN)))
    return result


def ismcts(
    view: Round,
    simulations: int,
    rng: random.Random,
    playout: Policy = random_move,
    explore: float = 0.7,
) -> list[tuple[str, int, float]]:
    """Information set Monte Carlo tree search by the seat to move, with one tree for it.

    ``view``: what that seat knows.  Each simulation samples the hidden hands, walks down the tree
    through the moves that are legal there, adds one node, and lets ``playout`` play to the end.
    A move not yet tried is tried before any other.  Returns (move, visits, mean reward), most
    visits first; ties by order of first trial.
    """
    observer = view.turn
    if view.end or HIDDEN in view.hands[observer]:
        raise ValueError("the search needs a running round and the open hand of the seat to move")
    root = Node()
    for _ in range(simulations):
        world = sample(view, rng)
        node = root
        path: list[tuple[Node, int]] = []
        grown = False
        while not world.end and not grown:
            seat = world.turn
            possible = {
                world.public_token(token, observer): after for token, after in world.outcomes()
            }
            untried = [key for key in possible if key not in node.children]
            grown = bool(untried)
            if grown:
                choice = rng.choice(untried)
                node.children[choice] = Node()
            for key in possible:
                if key in node.children:
                    node.children[key].available += 1
            if not grown:
                children = node.children
                choice = max(possible, key=lambda key: children[key].bound(explore))
            node = node.children[choice]
            world = possible[choice]
            path.append((node, seat))
        final = play_round(world, [playout] * world.players, rng)
        gained = rewards(final.points())
        for visited, seat in path:
            visited.visits += 1
            visited.total += gained[seat]
    result = [(key, node.visits, node.total / node.visits) for key, node in root.children.items()]
    return sorted(result, key=lambda line: -line[1])
