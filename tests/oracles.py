"""What must hold of any text and of any move, whoever thinks them up: Hypothesis, random damage,
or the coverage-guided fuzzer. Each function here is one promise; it fails by an AssertionError."""

from __future__ import annotations

import io
import pickle
import re
import tempfile
import threading
from collections.abc import Callable
from itertools import pairwise
from unittest import mock

import pytest
from helpers import differences, low, plain, show, turned

from bigtop import protocol
from bigtop.core.belief import Belief
from bigtop.core.rng import Rng
from bigtop.core.state import (
    PASS,
    SCOUT,
    SCOUT_SHOW,
    SHOW,
    Round,
    cards_in_play,
    deck,
    move_parts,
    strength,
)
from bigtop.engines import Engine, make_engine
from bigtop.notation import (
    HiddenHandError,
    IllegalMoveError,
    InconsistentPositionError,
    NotationError,
    Position,
    format_move,
    left_when_single,
    parse_move,
)
from bigtop.protocol import Clock, EngineBrain, parse_info, parse_option
from bigtop.record import (
    RecordError,
    RoundRecord,
    format_record,
    parse_record,
    read_records,
    replay,
)

# Positions ------------------------------------------------------------------------------------


def assert_one_line(refusal: ValueError, text: object) -> None:
    """What is refused is refused in one line that a terminal can show."""
    message = str(refusal)
    assert message.isprintable(), text
    assert message.isascii(), text
    assert 10 < len(message) < 4_000, text


def assert_readable(position: Position, text: str) -> None:
    """A position that was read can be written, read again, seen and counted."""
    assert Position.parse(position.history) == position, text
    again = Position.parse(str(position))
    assert str(again) == str(position), text
    assert again.points() == position.points(), text
    assert len(position.points()) == position.players
    Belief(position.round).sample(Rng(1))
    for seat in range(position.players):
        try:
            view = position.view(seat)
        except HiddenHandError:
            continue
        assert view.round.hand(seat) == position.round.hand(seat), text


def assert_answered(text: str, engine: Engine, seed: int) -> str:
    """A text is refused in one line, by one of the library's errors; or it is a position that can
    be written, and a hint is given for it, a legal move, if there is one to give.

    Returns what came of it: the name of the error, `over`, `hidden` or `answered`.
    """
    try:
        position = Position.parse(text)
    except (NotationError, InconsistentPositionError, IllegalMoveError) as refusal:
        assert_one_line(refusal, text)
        return type(refusal).__name__
    assert_readable(position, text)
    if position.is_over:
        assert position.legal_moves() == []
        return "over"
    if position.round.hidden(position.turn):
        with pytest.raises(HiddenHandError):
            position.legal_moves()
        with pytest.raises(ValueError, match="expected a known hand"):
            engine.answer(position, 1)
        return "hidden"
    legal = position.legal_moves()
    said = engine.answer(position, seed, memory=1)
    assert said.move in legal, text
    assert sorted(line.move for line in said.lines) == sorted(legal), text
    return "answered"


# Rounds ---------------------------------------------------------------------------------------


def every_card(round_: Round) -> list[int]:
    """The cards in hands, on the table and captured, lower number first, in order."""
    hands = [round_.hand(seat) for seat in range(round_.players)]
    return sorted(map(low, b"".join([*hands, round_.active, round_.out])))


def assert_holds(round_: Round) -> None:
    """What must be true of a round at any moment after the flip phase or in it."""
    seats = range(round_.players)
    held = [len(round_.hand(seat)) for seat in seats]
    cards_ = every_card(round_)
    assert len(set(cards_)) == len(cards_) == cards_in_play(round_.players)
    assert set(cards_) <= set(deck(round_.players))
    assert len(round_.out) == sum(round_.captured)
    assert sum(held) + len(round_.active) + sum(round_.captured) == cards_in_play(round_.players)
    assert 0 <= round_.turn < round_.players
    if round_.active:
        assert strength(round_.active) > 0
        assert round_.owner >= 0
    if not round_.end:
        assert all(held)
        assert (round_.owner < 0) == (not round_.active)
        assert round_.owner != round_.turn
        assert round_.moves() != []
        assert round_.count() == len(round_.moves())
    if round_.players == 2:
        assert round_.tokens == 0
        assert all(0 <= chips <= 3 for chips in round_.chips)
    paid = [0 if round_.end == "ii" and seat == round_.owner else held[seat] for seat in seats]
    assert round_.points() == tuple(
        round_.captured[seat] + round_.chips[seat] - paid[seat] for seat in seats
    )
    for seat in seats:
        assert round_.scouted(seat) < 1 << held[seat]


def assert_follows(before: Round, move: int, after: Round) -> None:
    """What one move may change."""
    kind, end, place, side, first, last = move_parts(move)
    seat, count = before.turn, last - first + 1
    assert after.made == before.made + 1
    assert every_card(after) == every_card(before)
    shown, scouted = kind in (SHOW, SCOUT_SHOW), kind in (SCOUT, SCOUT_SHOW)
    for other in range(before.players):
        if other != seat:
            assert after.hand(other) == before.hand(other)
            assert after.captured[other] == before.captured[other]
    grown = len(after.hand(seat)) - len(before.hand(seat))
    assert grown == scouted - (count if shown else 0)
    lying = len(before.active) - scouted
    assert after.captured[seat] == before.captured[seat] + (lying if shown else 0)
    assert sum(after.chips) - sum(before.chips) == scouted * (1 if before.players > 2 else -1)
    assert before.tokens & ~after.tokens == (1 << seat if kind == SCOUT_SHOW else 0)
    assert not after.tokens & ~before.tokens
    if shown:
        hand = before.hand(seat)
        rest = before.active
        if scouted:
            card = rest[-1] if end else rest[0]
            hand = hand[:place] + bytes([turned(card) if side else card]) + hand[place:]
            rest = rest[:-1] if end else rest[1:]
        assert after.active == hand[first : last + 1]
        assert after.hand(seat) == hand[:first] + hand[last + 1 :]
        assert strength(after.active) > strength(rest)
        assert after.owner == seat
        assert (after.end == "i") == (not after.hand(seat))
    elif scouted:
        assert len(after.active) == lying
    else:
        assert kind == PASS
        assert (after.end, after.owner) == ("ii", before.owner)
    if not after.end:
        stays = before.players == 2 and kind == SCOUT
        assert after.turn == (seat if stays else (seat + 1) % before.players)


class Table:
    """A round on the core and on the twin; all that may be tried on it, and what must not matter.

    Args:
        round_: full, every card accounted for.
        seed: of what is drawn at random here.
    """

    def __init__(self, round_: Round, seed: int) -> None:
        self.round = round_
        self.twin = plain(round_)
        self.rng = Rng(seed)

    def assert_holds(self) -> None:
        assert_holds(self.round)
        if self.round.end:
            assert self.round.moves() == self.round.all_moves() == []

    def play(self, move: int) -> None:
        """A legal move."""
        before = self.round.copy()
        self.round.play(move)
        if before.start < 0:
            assert_follows(before, move, self.round)
        else:
            assert self.round.made == 0
        self.twin = self.twin.play(format_move(move))
        assert differences(self.round, self.twin) == []

    def play_at_random(self) -> None:
        move = self.round.random_move(self.rng)
        assert move in self.round.moves()
        self.play(move)

    def play_another_with_the_same_outcome(self, number: int) -> None:
        every = self.round.all_moves()
        move = every[number % len(every)]
        other = self.round.copy()
        other.play(self.round.canonical(move))
        self.play(move)
        assert other == self.round

    def try_code(self, code: int) -> None:
        """A move that may be illegal, or none at all: asked about, and refused if it is."""
        before = self.round.copy()
        refusal = self.round.refusal(code)
        known = left_when_single(self.round, code) in self.round.all_moves()
        assert (refusal == "") == known, (show(self.round), code)
        if refusal:
            with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
                self.round.play(code)
        assert self.round == before

    def try_token(self, token: str) -> None:
        """Any text: played if it is a legal token, else refused in one line."""
        position = Position.from_round(self.round)
        try:
            code, named = parse_move(token)
        except NotationError as refusal:
            assert_one_line(refusal, token)
            return
        written = format_move(code, named)
        assert parse_move(written) == (code, named), token
        try:
            after = position.play(token)
        except IllegalMoveError as refusal:
            assert_one_line(refusal, token)
            reason = refusal.reason
        else:
            reason = ""
        if not named:
            assert reason == self.round.refusal(left_when_single(self.round, code)), token
        if reason:
            return
        (ply,) = after.plies
        assert position.play_code(ply.code).round == after.round
        self.play(ply.code)
        assert self.round == after.round, token
        assert_readable(after, token)

    def go_on_with_a_copy(self) -> None:
        copy = pickle.loads(pickle.dumps(self.round))
        assert copy == self.round.copy() == self.round
        self.round = copy

    def look(self, seat: int) -> None:
        """What a seat knows, and a world that it can imagine."""
        view = self.round.view(seat)
        sample = Belief(view).sample(self.rng)
        assert_holds(sample)
        assert sample.hand(seat) == self.round.hand(seat)
        if sample.turn == seat:
            assert sample.moves() == self.round.moves()

    def imagine(self) -> None:
        """Go on in a world that the acting seat imagines."""
        self.round = Belief(self.round.view(self.round.turn)).sample(self.rng)
        self.twin = plain(self.round)


# Records --------------------------------------------------------------------------------------


def assert_records(text: bytes) -> list[str]:
    """Each line is refused in one line, or is a record that can be written and read again; that
    record replays, as its moves say, or is refused in one line.

    Returns what came of each line: the name of the error, or `replayed`.
    """
    found: list[str] = []

    def refused(line: int, error: NotationError) -> None:
        assert line == len(found) + 1
        assert_one_line(error, text)
        found.append(type(error).__name__)

    for record in read_records(io.BytesIO(text), refused):
        written = format_record(record)
        assert parse_record(written) == record, text
        assert format_record(parse_record(written)) == written, text
        try:
            steps = list(replay(record))
        except RecordError as error:
            assert_one_line(error, text)
            found.append(type(error).__name__)
            continue
        for step, after in pairwise(steps):
            assert_holds(step.round)
            if step.code is not None and step.round.start < 0:
                assert_follows(step.round, step.code, after.round)
        stops = [step for step in steps if step.code is None]
        for told, stop in zip(record.rounds, stops, strict=True):
            assert_holds(stop.round)
            position = stop.position()
            assert Position.parse(position.history) == position, text
            again = RoundRecord.from_position(position, told.forfeit)
            assert (again.start, again.flips, again.end) == (told.start, told.flips, told.end)
            assert again.points == told.points
            assert len(again.moves) == len(told.moves)
        found.append("replayed")
    return found


# The engine protocol --------------------------------------------------------------------------


class WatchedBrain(EngineBrain):
    """An engine with a budget that no host can raise, whose answers are looked at."""

    answers = 0

    def answer(
        self,
        position: Position,
        clock: Clock,
        seed: int | None,
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> str:
        self.threads, self.memory = min(self.threads, 2), 1
        token = super().answer(position, Clock(), seed, stop, say)
        assert token in position.legal_moves(), position.history
        self.answers += 1
        return token


def assert_conversation(text: bytes) -> list[str]:
    """Whatever a host says, the engine says lines of the protocol, gives a legal move for every
    `go` that it can answer, and ends when the input does.

    Returns the lines.
    """
    brain = WatchedBrain(make_engine("bigtop", sims=4))
    broken: list[object] = []
    with (
        tempfile.TemporaryFile() as incoming,
        tempfile.TemporaryFile() as outgoing,
        # the wait that ends the process with a search that does not look up
        mock.patch.object(protocol, "QUIT_SECONDS", 600),
        mock.patch.object(threading, "excepthook", broken.append),
    ):
        incoming.write(text)
        incoming.seek(0)
        before = set(threading.enumerate())
        protocol.serve(brain, incoming.fileno(), outgoing.fileno())
        for thread in set(threading.enumerate()) - before:
            thread.join(600)
        outgoing.seek(0)
        said = outgoing.read().decode("ascii")
    assert broken == []
    assert said == "" or said.endswith("\n")
    lines = said.splitlines()
    for line in lines:
        assert line.isprintable(), line
        word, _, rest = line.partition(" ")
        if word == "option":
            assert str(parse_option(line)) == line
        elif word == "info":
            assert parse_info(line)
        elif word in ("id", "bepok", "bestmove", "error"):
            assert rest, line
        else:
            assert line == "readyok"
    assert sum(line.startswith("bestmove ") for line in lines) == brain.answers
    return lines


def assert_told(line: str) -> None:
    """What an engine says is read, or refused with a ValueError; an option is written as read."""
    for parse in (parse_info, parse_option):
        try:
            read = parse(line)
        except ValueError as refusal:
            message = str(refusal)
            assert message.isprintable(), line
        else:
            assert parse(str(read) if parse is parse_option else line) == read
