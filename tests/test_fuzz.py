"""The long tests: a hundred thousand damaged positions, a million moves on the core and the twin.

Run with ``pytest -m slow``.  All seeds are written here; a failure names what it was about.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
import twin
from helpers import (
    TABLE_NAMES,
    TABLES,
    cards,
    differences,
    natural_move,
    opening,
    plain,
    random_row,
    show,
    tokens,
    vectors,
)

from bigtop.core.belief import Belief
from bigtop.core.policy import choose, planner_h, planner_values
from bigtop.core.rng import Rng
from bigtop.core.state import PASS, SCOUT, SCOUT_SHOW, SHOW, Round, move_parts
from bigtop.engines import make_engine
from bigtop.notation import (
    HiddenHandError,
    IllegalMoveError,
    InconsistentPositionError,
    NotationError,
    Position,
    format_move,
)

pytestmark = pytest.mark.slow

# Damaged positions ----------------------------------------------------------------------------

MUTATIONS = 30_000
"""Damaged positions of each seed."""
SEEDS = (1, 2, 3, 4)

LETTERS = "0123456789Tt.x/-@+f:~SLR moveskipfl\t\n,;'\"_AXé\u0663\uff11\x00\x1f\u2028🂡"


def originals() -> list[str]:
    """Every position of the vectors, those that are refused included."""
    names = ("moves", "perft", "sequences", "good_positions", "lenient_positions", "bad_positions")
    found = [case["position"] for name in names for case in vectors(f"{name}.jsonl")]
    found += [case[key] for case in vectors("views.jsonl") for key in ("position", "full")]
    return sorted(text for text in set(found) if len(text) < 5_000)


def letters(text: str, pick: random.Random) -> str:
    """One letter put in, left out, changed, doubled, or two exchanged."""
    at = pick.randrange(len(text) + 1)
    match pick.randrange(5):
        case 0:
            return text[:at] + pick.choice(LETTERS) + text[at:]
        case 1:
            return text[:at] + text[at + 1 :]
        case 2:
            return text[:at] + pick.choice(LETTERS) + text[at + 1 :]
        case 3:
            return text[:at] + text[at : at + 1] + text[at:]
        case _:
            return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def pieces(text: str, pick: random.Random) -> str:
    """A stretch of the text cut out, doubled, or moved."""
    first, last = sorted(pick.randrange(len(text) + 1) for _ in range(2))
    match pick.randrange(3):
        case 0:
            return text[:first] + text[last:]
        case 1:
            return text[:last] + text[first:]
        case _:
            return text[last:] + text[first:last] + text[:first]


def of_fields(
    change: Callable[[list[str], random.Random], None],
) -> Callable[[str, random.Random], str]:
    def changed(text: str, pick: random.Random) -> str:
        words = text.split(" ")
        if len(words) < 6:
            return text
        change(words, pick)
        return " ".join(words)

    return changed


TEXTS = originals()


def other_field(words: list[str], pick: random.Random) -> None:
    """A field as another position has it."""
    other = pick.choice(TEXTS).split(" ")
    at = pick.randrange(len(words))
    words[at] = other[at % len(other)]


def swapped_fields(words: list[str], pick: random.Random) -> None:
    one, two = (pick.randrange(len(words)) for _ in range(2))
    words[one], words[two] = words[two], words[one]


def lost_or_doubled_field(words: list[str], pick: random.Random) -> None:
    at = pick.randrange(len(words))
    words[at : at + 1] = [words[at]] * pick.choice([0, 2])


def number(words: list[str], pick: random.Random) -> None:
    """Some number becomes another."""
    at = pick.choice([1, 2, 3, 4])
    words[at] = re.sub(
        r"\d+",
        lambda _: str(pick.choice([0, 1, 2, 3, 4, 5, 9, 10, 99, 999, 1000])),
        words[at],
        count=1,
    )


def seats(words: list[str], pick: random.Random) -> None:
    """A hand more, a hand less, or hands in another order."""
    hands = words[0].split("/")
    match pick.randrange(3):
        case 0:
            hands.insert(pick.randrange(len(hands) + 1), pick.choice(["-", "x", "x11", hands[0]]))
        case 1 if len(hands) > 1:
            del hands[pick.randrange(len(hands))]
        case _:
            pick.shuffle(hands)
    words[0] = "/".join(hands)


def captured(words: list[str], pick: random.Random) -> None:
    """The active set is captured, or a card of a hand, so that all still adds up."""
    points = words[4].split("/")
    at = pick.randrange(len(points))
    count, _, chips = points[at].partition("+")
    row, _, _ = words[1].partition("@")
    if not count.isdigit():
        return
    if pick.random() < 0.5 and row != "-":
        points[at] = f"{int(count) + row.count('.') + 1}+{chips}"
        words[1] = "-"
    else:
        hands = words[0].split("/")
        seat = pick.randrange(len(hands))
        items = hands[seat].split(".")
        if items[0][:1] == "x":
            return
        gone = items.pop(pick.randrange(len(items)))
        if gone[:1] == "x":
            return
        hands[seat] = ".".join(items) or "-"
        points[at] = f"{int(count) + 1}+{chips}"
        words[0] = "/".join(hands)
    words[4] = "/".join(points)


def a_move_more(words: list[str], pick: random.Random) -> None:
    if "moves" not in words:
        words.append("moves")
    words.append(
        pick.choice(["S1", "S2", "S1-2", "L1", "L1~", "R2", "L1+S1", "R3~+S1-2", "pass", "keep",
                     "flip", "S1:37", "S45", "L46"])
    )  # fmt: skip


def of_cards(text: str, pick: random.Random) -> str:
    """Two cards exchanged, one turned, hidden, or replaced."""
    found = [match.span() for match in re.finditer(r"\b[1-9T]{2}\b", text)]
    if len(found) < 2:
        return text
    (a, b), (c, d) = sorted(pick.sample(found, 2))
    match pick.randrange(4):
        case 0:
            return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
        case 1:
            return text[:a] + text[a:b][::-1] + text[b:]
        case 2:
            return text[:a] + "x" + text[b:]
        case _:
            return text[:a] + "".join(pick.sample("123456789T", 2)) + text[b:]


CHANGES: list[Callable[[str, random.Random], str]] = [
    letters, letters, pieces, of_cards, of_cards, of_cards,
    *map(of_fields, (other_field, swapped_fields, lost_or_doubled_field, number, number, seats,
                     captured, captured, a_move_more, a_move_more)),
]  # fmt: skip


def damaged(seed: int) -> Iterator[str]:
    """Positions with one to three changes."""
    pick = random.Random(seed)
    for _ in range(MUTATIONS):
        text = pick.choice(TEXTS)
        for _ in range(pick.choice([1, 1, 2, 3])):
            text = pick.choice(CHANGES)(text, pick)
        yield text


def assert_readable(position: Position, text: str) -> None:
    """A position that was read can be written, read again, seen and counted."""
    assert Position.parse(position.history) == position, text
    assert Position.parse(str(position)).points() == position.points(), text
    assert len(position.points()) == position.players
    Belief(position.round).sample(Rng(1))
    for seat in range(position.players):
        try:
            view = position.view(seat)
        except HiddenHandError:
            continue
        assert view.round.hand(seat) == position.round.hand(seat), text


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_positions_are_answered_or_refused(seed: int) -> None:
    """Refused in one line, with one of the library's errors; else a hint is given: a legal move."""
    engine = make_engine("bigtop", sims=8)
    found = Counter[str]()
    for count, text in enumerate(damaged(seed)):
        try:
            position = Position.parse(text)
        except (NotationError, InconsistentPositionError, IllegalMoveError) as refusal:
            message = str(refusal)
            assert message.isprintable(), text
            assert message.isascii(), text
            assert 10 < len(message) < 4_000, text
            found[type(refusal).__name__] += 1
            continue
        assert_readable(position, text)
        if position.is_over:
            assert position.legal_moves() == []
            found["over"] += 1
            continue
        if position.round.hidden(position.turn):
            with pytest.raises(HiddenHandError):
                position.legal_moves()
            with pytest.raises(ValueError, match="expected a known hand"):
                engine.answer(position, 1)
            found["hidden"] += 1
            continue
        legal = position.legal_moves()
        said = engine.answer(position, count, memory=1)
        assert said.move in legal, text
        assert sorted(line.move for line in said.lines) == sorted(legal), text
        found["answered"] += 1
    assert found.total() == MUTATIONS
    assert found["answered"] > MUTATIONS / 5
    for kind in (
        "NotationError",
        "InconsistentPositionError",
        "IllegalMoveError",
        "over",
        "hidden",
    ):
        assert found[kind] > MUTATIONS / 500, found


# The core and the twin ------------------------------------------------------------------------

MOVES = 200_000
"""Moves for each kind of table: a million in all."""
LIST_EVERY = 400
"""At every so many moves the lists are compared, too, with all that they lead to."""


@pytest.mark.parametrize("table", TABLES, ids=TABLE_NAMES)
def test_a_million_moves(table: tuple[int, bool]) -> None:
    """Rounds of random moves (by turns uniform, by kind, the planner's) on the core and the twin.

    After every move: hands, active set, owner, turn, tokens, chips, captured, what was scouted,
    moves made, end and points. At some: the lists, their order, the outcome of each move.
    """
    players, forced = table
    done, seed = 0, 0
    while done < MOVES:
        seed += 1
        round_ = opening(players, seed, forced)
        other = plain(round_)
        rng, pick = Rng(seed), random.Random(seed)
        while not round_.end:
            if done % LIST_EVERY == 0:
                outcomes = other.outcomes()
                assert tokens(round_.moves()) == [token for token, _ in outcomes], show(round_)
                assert tokens(round_.all_moves()) == other.legal_tokens(), show(round_)
                for move, (_, wanted) in zip(round_.moves(), outcomes, strict=True):
                    after = round_.copy()
                    after.play(move)
                    assert differences(after, wanted) == [], (show(round_), format_move(move))
            match (seed + done // 40) % 3:
                case 0:
                    move = round_.random_move(rng)
                case 1:
                    move = natural_move(round_, pick)
                case _:
                    move = choose(round_, "planner", rng)
            before = show(round_)
            round_.play(move)
            other = other.play(format_move(move))
            assert differences(round_, other) == [], (before, format_move(move))
            done += 1


CHOICES = 10_000
"""Positions for each number of players."""


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_planner_and_greedy_choose_by_their_lists(players: int) -> None:
    """On hands of every length, loose and close: the planner's move has the best of all its values,
    greedy's is the longest Show; both are in the list, and the count is that of the list."""
    pick = random.Random(players)
    rank = {SCOUT: 0, SHOW: 1, SCOUT_SHOW: 2, PASS: 3}
    for number_ in range(CHOICES):
        size = pick.randint(1, 24 if number_ % 10 else 45 - players)
        found = random_row(
            min(45, size + players + 4), pick, pick.choice([0.2, 0.5, 0.7, 0.9]), number_ % 2 > 0
        )
        active = found[size : len(found) + 1 - players][: pick.randint(0, 5)]
        active = next((active[:n] for n in range(len(active), 0, -1) if is_set(active[:n])), b"")
        rest = found[size + len(active) :][: players - 1]
        round_ = Round(
            [found[:size], *(bytes([card]) for card in rest)],
            active=active,
            owner=players - 1 if active else -1,
            tokens=(1 << players) - 1 if players > 2 and number_ % 4 else 0,
            chips=[pick.randint(0, 3) if players == 2 else 0] * players,
            forced_pass=players == 2 and number_ % 2 == 0,
        )
        cost = pick.choice([1.0, 1.5, 0.0, -2.5, 0.25])
        values = planner_values(round_, cost)
        assert [move for move, _ in values] == round_.moves()
        assert round_.count() == len(values)
        best, _ = min(values, key=lambda p: (-p[1], rank[move_parts(p[0]).kind], p[0]))
        move = choose(round_, "planner", Rng(0), cost)
        assert move == best, (show(round_), cost, format_move(move), format_move(best))
        assert choose(round_, "greedy", Rng(number_)) in greedy_moves(round_.moves()), show(round_)
        if number_ % 50 == 0:
            wanted = twin.hand_worth(twin.numbers(cards(round_.hand(0))))
            assert planner_h(round_.hand(0)) == wanted


def is_set(row: bytes) -> bool:
    return twin.is_block(twin.numbers(cards(row)))


def greedy_moves(moves: list[int]) -> set[int]:
    """What the greedy player may do with this list."""
    parts = {move: move_parts(move) for move in moves}

    def first_longest(kind: int) -> tuple[int, int]:
        sizes = [(p.last - p.first + 1, -move) for move, p in parts.items() if p.kind == kind]
        size, move = max(sizes, default=(0, 0))
        return size, -move

    shown, plain_show = first_longest(SHOW)
    both, scout_show = first_longest(SCOUT_SHOW)
    if both and shown < both + 2:
        return {scout_show}
    if shown:
        return {plain_show}
    return {move for move, p in parts.items() if p.kind == SCOUT} or set(moves)
