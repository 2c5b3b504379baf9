"""What people read: moves and situations in words, and the drawn table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bigtop.core.state import MOVE_LIMIT
from bigtop.drawing import WIDTH, draw
from bigtop.notation import IllegalMoveError, NotationError, Position
from bigtop.words import says, situation

VECTORS = Path(__file__).parent / "vectors"

TWO = "x9/37.21.19.45.58.6T.74.83.92 56.57@0 1 - 0+3/2+1 13.14"
FIVE = (
    "x6/37.x5/12.T9.45.67.82/x7/x9 58.65@0 2 024 2+1/0+0/4+2/1+0/3+0 13.14.16.17.18.19.1T.23.24.25"
)
FLIP = "x11/37.2T.19.45.58.6T.74.83.92.T3.15/x11/x11 - 1f2 0123 0+0/0+0/0+0/0+0 -"
ONE_CARD = "x6/37.x5/12.T9.45.67.82/x7/x9 58@0 2 024 2+1/0+0/5+2/1+0/3+0 13.14.16.17.18.19.1T.23.24"
OVER = "-/37.21 45@0 1 - 17+3/2+0 -"


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def vectors(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text("utf-8").splitlines()]


def positions() -> list[str]:
    names = ("good_positions.jsonl", "views.jsonl", "moves.jsonl", "sequences.jsonl")
    return [entry["position"] for name in names for entry in vectors(name)[:150]]


@pytest.mark.parametrize(
    ("position", "token", "words"),
    [
        (TWO, "S4-6", "Show 4 5 6 (places 4 to 6)"),
        (TWO, "L1", "Scout the left card 5 to place 1 (before 3)"),
        (TWO, "R10~", "Scout the right card 5, turned over to 7, to place 10 (after 9)"),
        (TWO, "R3~", "Scout the right card 5, turned over to 7, to place 3 (between 2 and 1)"),
        (TWO, "pass", "Pass: end the round"),
        (FIVE, "L2", "Scout the left card 5 to place 2 (between 1 and 10)"),
        (
            FIVE,
            "R5~+S4-5",
            "Scout & Show: the right card 6, turned over to 5, to place 5 (between 6 and 8),"
            " then show 6 5 (places 4 to 5)",
        ),
        (ONE_CARD, "L1~", "Scout the card 5, turned over to 8, to place 1 (before 1)"),
        (FLIP, "keep", "Keep the hand as it is"),
        (FLIP, "flip", "Flip the whole hand"),
    ],
)
def test_a_move_in_words(position: str, token: str, words: str) -> None:
    assert says(Position.parse(position), token) == words


def test_a_show_of_one_card_names_its_place() -> None:
    opening = Position.parse(
        "x11/37.2T.19.45.58.6T.74.83.92.T3.15/x11/x11 - 1 0123 0+0/0+0/0+0/0+0 -"
    )
    assert says(opening, "S10") == "Show 10 (place 10)"


def test_a_show_of_hidden_cards_says_the_cards_of_the_token() -> None:
    hidden = Position.parse("x11/x11/x11/x11 - 1 0123 0+0/0+0/0+0/0+0 -")
    assert says(hidden, "S3-5:45.56.67") == "Show 4 5 6 (places 3 to 5)"


def test_a_scout_beside_hidden_cards_leaves_the_neighbours_out() -> None:
    hidden = Position.parse(FIVE.replace("12.T9.45.67.82", "12.x4"))
    assert says(hidden, "L2") == "Scout the left card 5 to place 2"
    assert says(hidden, "L1") == "Scout the left card 5 to place 1 (before 1)"


def test_an_illegal_move_has_no_words() -> None:
    with pytest.raises(IllegalMoveError):
        says(Position.parse(TWO), "S1")
    with pytest.raises(NotationError):
        says(Position.parse(TWO), "Z9")


def test_every_legal_move_of_the_vectors_has_words_of_its_own() -> None:
    for entry in vectors("moves.jsonl")[:40]:
        position = Position.parse(entry["position"])
        words = [says(position, token) for token in position.legal_moves()]
        assert len(set(words)) == len(words), entry["position"]


@pytest.mark.parametrize(
    ("position", "words"),
    [
        (TWO, "Seat 1 of 2 to move; active set 5 5 of seat 0."),
        (TWO.replace("56.57@0 1 - 0+3", "- 1 - 2+3"), "Seat 1 of 2 to move; no active set."),
        (FLIP, "Seat 1 of 4 to choose keep or flip; seat 2 moves first."),
        (OVER, "The round is over: seat 0 has no card left."),
        (TWO + " moves pass", "The round is over: nobody beat the set of seat 0."),
    ],
)
def test_the_situation_in_words(position: str, words: str) -> None:
    assert situation(Position.parse(position)) == words


def test_a_round_that_was_stopped_says_so() -> None:
    # With three players, shown single cards and their Scouts go round for ever.
    position = Position.parse("12.35.68/23.46.79/34.57.18 - 0 012 9+0/9+0/9+0 -")
    for _ in range(MOVE_LIMIT):
        assert not position.is_over
        position = position.play("L1" if position.round.active else "S1")
    assert situation(position) == "The round is over: it was stopped after 1,000 moves."


def test_drawing_is_ascii_and_fits_the_terminal() -> None:
    for text in positions():
        drawn = draw(Position.parse(text))
        assert drawn.isascii(), text
        assert max(map(len, drawn.splitlines())) <= WIDTH, text


def test_colour_adds_nothing_and_hides_nothing() -> None:
    for text in positions():
        position = Position.parse(text)
        coloured = draw(position, color=True)
        assert "\x1b[" in coloured
        assert plain(coloured) == draw(position, color=False)


def test_the_acting_hand_shows_both_numbers_below_its_places() -> None:
    lines = draw(Position.parse(TWO)).splitlines()
    at = lines.index("Seat 1 (to act):")
    assert lines[at + 1].split() == ["place", *map(str, range(1, 10))]
    assert lines[at + 2].split() == ["active", *"321456789"]
    assert " ".join(lines[at + 3].split()) == "other 7 1 9 5 8 10 4 3 2"


def test_hidden_cards_are_backs_and_known_ones_stand_at_their_places() -> None:
    lines = draw(Position.parse(FIVE)).splitlines()
    assert lines[lines.index("Seat 0:") + 1].split() == ["hidden", *["##"] * 6]
    at = lines.index("Seat 1:")
    assert lines[at + 1].split() == ["active", "3", *["##"] * 5]
    assert lines[at + 2].split() == ["other", "7", *["##"] * 5]


def test_the_table_of_seats_holds_every_number_of_the_position() -> None:
    drawn = draw(Position.parse(FIVE + " 3:12/-1/7/3/0"))
    lines = drawn.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("seat "))
    rows = [line.replace(">", " ").split() for line in lines[at + 1 : at + 6]]
    assert rows == [
        ["0", "6", "2", "1", "held", "-3"],
        ["1", "6", "0", "0", "used", "-6"],
        ["2", "5", "4", "2", "held", "1"],
        ["3", "7", "1", "0", "used", "-6"],
        ["4", "9", "3", "0", "held", "-6"],
    ]
    assert [line[0] for line in lines[at + 1 : at + 6]] == [" ", " ", ">", " ", " "]
    assert "Round 3 of 5; points of the seats before it: 12, -1, 7, 3, 0." in lines
    assert "Cards out of play, as far as known: 1/3 1/4 1/6 1/7 1/8 1/9 1/10 2/3 2/4 2/5" in lines


def test_the_edition_for_two_players_is_named() -> None:
    assert "passing at will" in draw(Position.parse(TWO))
    forced = TWO.replace("@0 1 -", "@0 1 f")
    assert "passing only when forced" in draw(Position.parse(forced))


def test_a_long_hand_is_wrapped_with_its_places_going_on() -> None:
    cards = [f"{low}{high}" for low in range(1, 9) for high in range(low + 1, 10)]
    own, others, active = cards[:31], cards[31:35], cards[35]
    hands = "/".join(map(".".join, (own, others[:2], others[2:])))
    drawn = draw(Position.parse(f"{hands} {active}@1 0 0 0+0/0+0/0+0 -")).splitlines()
    places = [line.split()[1:] for line in drawn if line.startswith("  place ")]
    assert [len(line) for line in places] == [20, 11]
    assert [int(number) for line in places for number in line] == list(range(1, 32))
