"""The rules, sentence by sentence, on positions that the library reads and plays.

The sections are those of the rules. Positions are small: most cards are captured already and not
known (`captured` below), so that a hand and the active set tell the whole story.
"""

from __future__ import annotations

import itertools

import pytest

from bigtop.core.rng import Rng
from bigtop.core.state import cards_in_play, deal, deck, hand_size
from bigtop.notation import IllegalMoveError, InconsistentPositionError, Position, format_row


def at(seats: str, active: str, turn: int, tokens: str = "-", chips: str = "") -> Position:
    """A position in which seat 0 has captured all the cards that are not to be seen.

    Args:
        seats, active, turn, tokens: as the fields of a position.
        chips: of each seat, joined by /.
    """
    players = seats.count("/") + 1
    lying = f"{seats}/{active.split('@')[0]}".replace("/", ".").split(".")
    seen = sum(int(card[1:] or 1) if card[0] == "x" else card != "-" for card in lying)
    each = chips.split("/") if chips else ["0"] * players
    captured = [cards_in_play(players) - seen] + [0] * (players - 1)
    points = "/".join(f"{cards}+{chip}" for cards, chip in zip(captured, each, strict=True))
    return Position.parse(f"{seats} {active} {turn} {tokens} {points} -")


def shows(position: Position) -> list[str]:
    return [token for token in position.legal_moves() if token.startswith("S")]


def is_legal(position: Position, token: str) -> bool:
    try:
        position.play(token)
    except IllegalMoveError:
        return False
    return True


def active(position: Position) -> str:
    return format_row(position.round.active)


def hand(position: Position, seat: int) -> str:
    return format_row(position.round.hand(seat))


# Cards and deck -------------------------------------------------------------------------------


def test_there_are_45_cards_one_for_every_pair_of_numbers() -> None:
    cards = {(card >> 4, card & 15) for card in deck(5)}
    assert cards == set(itertools.combinations(range(1, 11), 2))
    assert len(cards) == 45


@pytest.mark.parametrize("players", [2, 4])
def test_two_and_four_players_play_without_the_9_10(players: int) -> None:
    assert set(deck(5)) - set(deck(players)) == {0x9A}
    assert len(deck(players)) == 44


def test_three_players_play_without_the_tens() -> None:
    assert set(deck(5)) - set(deck(3)) == {low << 4 | 10 for low in range(1, 10)}
    assert len(deck(3)) == 36


def test_hand_sizes() -> None:
    assert {players: hand_size(players) for players in (5, 4, 3, 2)} == {5: 9, 4: 11, 3: 12, 2: 11}


def test_two_players_set_22_cards_aside_in_the_first_round() -> None:
    assert len(deck(2)) - cards_in_play(2) == 22


@pytest.mark.parametrize("players", [3, 4, 5])
def test_otherwise_every_card_is_dealt(players: int) -> None:
    assert cards_in_play(players) == len(deck(players))


def test_the_number_at_the_top_left_is_active_the_other_does_not_count() -> None:
    position = at("34.54/12/61", "47@2", 0)
    assert shows(position) == ["S2"]  # 5 beats 4; the 4 below the 3 is no second 4
    assert not is_legal(position, "S1-2")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_deal_randomises_order_and_orientation(players: int) -> None:
    """Among 1000 deals each card lies both ways, and first in a hand, sometimes."""
    deals = [deal(players, Rng(seed)) for seed in range(1000)]
    rows = [dealt.hand(seat) for dealt in deals for seat in range(players)]
    lying = set(b"".join(rows))
    assert lying == {card for low in deck(players) for card in (low, (low & 15) << 4 | low >> 4)}
    assert len({row[0] for row in rows}) == len(lying)


# Round set-up ---------------------------------------------------------------------------------

DEALT = (
    "59.54.35.14.65.15.12.87.28.76.42.52/93.37.92.49.79.57.69.31.47.17.72.18/"
    "68.61.98.64.91.36.23.85.83.34.26.48"
)


def test_a_flip_turns_every_card_and_keeps_the_order() -> None:
    position = Position.parse(f"{DEALT} - 0f0 012 0+0/0+0/0+0 -").play("flip")
    assert hand(position, 0) == "95.45.53.41.56.51.21.78.82.67.24.25"


def test_each_player_may_flip_once_all_before_the_first_move() -> None:
    position = Position.parse(f"{DEALT} - 0f1 012 0+0/0+0/0+0 -")
    for seat in range(3):
        assert position.turn == seat
        assert position.legal_moves() == ["keep", "flip"]
        assert not is_legal(position, "S1")
        position = position.play("keep")
    assert position.turn == 1, "the starting seat moves when all have chosen"
    assert not is_legal(position, "flip")
    assert not is_legal(position, "keep")


def test_a_flip_is_public_and_tells_no_card() -> None:
    view = Position.parse(f"{DEALT} - 0f1 012 0+0/0+0/0+0 -").play("flip").view(1)
    assert view.moves == ("flip",)
    assert hand(view, 0) == "x12"


@pytest.mark.parametrize("players", [3, 4, 5])
def test_each_player_holds_one_token(players: int) -> None:
    dealt = Position.from_round(deal(players, Rng(1)))
    assert dealt.round.tokens == (1 << players) - 1
    assert dealt.round.chips == (0,) * players


def test_two_players_take_three_chips_and_no_token() -> None:
    dealt = Position.from_round(deal(2, Rng(1)))
    assert dealt.round.tokens == 0
    assert dealt.round.chips == (3, 3)
    with pytest.raises(InconsistentPositionError):
        at("34.54/12", "-", 0, chips="4/3")


def test_scout_chips_never_run_out() -> None:
    position = at("34.54/12.13/61.71", "47.48@2", 0, chips="0/0/998").play("L1")
    assert position.round.chips == (0, 0, 999)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_holder_of_the_1_2_starts(players: int) -> None:
    held = 0
    for seed in range(60):
        dealt = deal(players, Rng(seed))
        holders = [
            seat for seat in range(players) if 0x12 in dealt.hand(seat) or 0x21 in dealt.hand(seat)
        ]
        assert [dealt.start] == (holders or [0])
        held += len(holders)
    assert held == 60 or (players == 2 and 10 < held < 50)


def test_with_two_players_seat_0_starts_when_nobody_holds_the_1_2() -> None:
    without = bytes(card for card in deck(2) if card != 0x12)
    assert {deal(2, Rng(seed), without).start for seed in range(20)} == {0}


# Turn: Show -----------------------------------------------------------------------------------


def test_one_card_may_be_shown() -> None:
    assert is_legal(at("34.54/12/61", "-", 0), "S1")


def test_neighbours_of_equal_numbers_may_be_shown() -> None:
    assert shows(at("34.36.35/12/61", "-", 0)) == ["S1", "S1-2", "S1-3", "S2", "S2-3", "S3"]


def test_neighbours_that_rise_by_one_may_be_shown() -> None:
    assert is_legal(at("34.45.56/12/61", "-", 0), "S1-3")


def test_neighbours_that_fall_by_one_may_be_shown() -> None:
    assert is_legal(at("54.46.37/12/61", "-", 0), "S1-3")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("34.56", "a gap of two"),
        ("34.45.36", "up and down"),
        ("34.35.45", "equal, then up"),
        ("91.12", "after 9 comes no 1"),
        ("31.42.25", "it must go on as it began"),
    ],
)
def test_nothing_else_is_a_block(row: str, why: str) -> None:
    position = at(f"{row}/78.72/61", "-", 0)
    assert not is_legal(position, f"S1-{row.count('.') + 1}"), why


def test_cards_of_a_block_must_be_neighbours_in_the_hand() -> None:
    position = at("34.71.35/12/61", "-", 0)
    assert shows(position) == ["S1", "S2", "S3"]


def test_a_show_captures_the_beaten_cards() -> None:
    position = at("57.56.91/12/61", "34.45@2", 0)
    before = position.round.captured[0]
    after = position.play("S1-2")
    assert after.round.captured[0] == before + 2
    assert after.round.chips == (0, 0, 0)


def test_beaten_cards_are_known_by_all() -> None:
    after = at("57.56.91/12/61", "34.45@2", 0).play("S1-2")
    assert format_row(after.view(1).round.out) == "34.45"


def test_the_block_becomes_the_active_set_in_the_hands_order() -> None:
    after = at("91.54.46.37/12/61", "-", 0).play("S2-4")
    assert active(after) == "54.46.37"
    assert after.round.owner == 0
    assert hand(after, 0) == "91"
    assert after.turn == 1


def test_without_an_active_set_any_block_may_be_shown() -> None:
    assert shows(at("12.13/24/61", "-", 0)) == ["S1", "S1-2", "S2"]


def test_against_an_active_set_the_block_must_beat_it() -> None:
    assert shows(at("12.53/24/61", "45@2", 0)) == ["S2"]


# Turn: Scout ----------------------------------------------------------------------------------


def test_a_scout_takes_the_leftmost_or_the_rightmost_card() -> None:
    position = at("12/24.82/61.71", "34.45.56@2", 0)
    left, right = position.play("L1"), position.play("R1")
    assert (hand(left, 0), active(left)) == ("34.12", "45.56")
    assert (hand(right, 0), active(right)) == ("56.12", "34.45")


def test_a_middle_card_is_never_scouted() -> None:
    position = at("12/24.82/61.71", "34.45.56@2", 0)
    taken = {hand(position.play(f"{end}1{side}"), 0)[:2] for end in "LR" for side in ("", "~")}
    assert taken == {"34", "43", "56", "65"}


def test_a_scouted_card_goes_anywhere_in_either_orientation() -> None:
    position = at("12.78/24.82/61.71", "34@2", 0)
    hands = [hand(position.play(f"L{place}{side}"), 0) for place in (1, 2, 3) for side in ("", "~")]
    assert hands == [
        "34.12.78", "43.12.78", "12.34.78", "12.43.78", "12.78.34", "12.78.43"
    ]  # fmt: skip
    assert not is_legal(position, "L4")


def test_the_owner_gets_a_chip_for_each_scout() -> None:
    position = at("12/24.82/61.71/38.39", "34.45.56@3", 0)
    assert position.play("L1").round.chips == (0, 0, 0, 1)
    assert position.play("L1").play("R1").round.chips == (0, 0, 0, 2)


def test_the_rest_stays_the_active_set_and_the_owner_stays() -> None:
    after = at("12/24.82/61.71", "34.45.56@2", 0).play("L1")
    assert active(after) == "45.56"
    assert after.round.owner == 2
    assert after.turn == 1


def test_without_an_active_set_there_is_no_scout() -> None:
    position = at("12.78/24/61", "-", 0, "012")
    assert position.legal_moves() == ["S1", "S2"]
    assert not is_legal(position, "L1")
    assert not is_legal(position, "L1+S1")


def test_card_place_and_orientation_of_a_scout_are_public() -> None:
    after = at("12.78/24.82/61.71", "34.45@2", 0).play("L2~")
    for seat in (1, 2):
        assert hand(after.view(seat), 0) == "x.43.x"


def test_exactly_one_action_a_turn() -> None:
    position = at("12.78/24.82/61.71", "34.45@2", 0)
    assert position.play("L1").turn == 1
    assert at("12.78/24.82/61.71", "34@2", 0).play("S2").turn == 1


# Turn: Scout & Show ---------------------------------------------------------------------------


def test_scout_and_show_is_a_scout_followed_by_a_show() -> None:
    position = at("46.91/24.82/61.71", "38.45@2", 0, "0")
    after = position.play("R2+S1-2")  # takes the 4 beside the own 4: a pair against a 3
    assert active(after) == "46.45"
    assert after.round.owner == 0
    assert hand(after, 0) == "91"


def test_the_owner_still_gets_the_chip_of_a_scout_and_show() -> None:
    after = at("46.91/24.82/61.71", "38.45@2", 0, "0").play("R2+S1-2")
    assert after.round.chips == (0, 0, 1)


def test_scout_and_show_captures_what_was_left() -> None:
    position = at("46.91/24.82/61.71", "38.45@2", 0, "0")
    captured = position.round.captured[0]
    after = position.play("R2+S1-2")
    assert after.round.captured[0] == captured + 1
    assert format_row(after.round.out) == "38"


def test_scout_and_show_must_beat_what_was_left() -> None:
    position = at("46.91/24.82/61.71", "47.45@2", 0, "0")
    assert is_legal(position, "R1+S3")  # 9 against the 4 that is left
    assert not is_legal(position, "R1~+S2")  # 4 against 4


def test_scout_and_show_once_per_round() -> None:
    position = at("46.91.72/84.82.31/61.71.53", "38.45@2", 0, "02")
    assert is_legal(position, "R2+S1-2")
    after = position.play("R2+S1-2")
    assert after.round.tokens == 0b100
    again = after.play("S1-2").play("L1")
    assert again.turn == 0
    assert is_legal(again, "L1")
    assert not [token for token in again.legal_moves() if "+" in token]
    with pytest.raises(IllegalMoveError, match="seat 0 has no Scout & Show token"):
        again.play("L1+S1")


def test_a_scout_or_a_show_leaves_the_token() -> None:
    position = at("46.91/24.82/61.71", "38@2", 0, "02")
    assert position.play("L1").round.tokens == 0b101
    assert position.play("S1").round.tokens == 0b101


def test_the_scouted_card_may_itself_be_shown() -> None:
    position = at("12/24.82/61.71", "79@2", 0, "0")
    assert active(position.play("L1+S1")) == "79"
    assert active(position.play("L1~+S1")) == "97"


# Scouting emptied the active set --------------------------------------------------------------


def test_when_scouting_emptied_the_set_the_next_player_must_show_any_block() -> None:
    after = at("12/13.82/61.71/38.39", "97@3", 0, "0123").play("L1")
    assert active(after) == "-"
    assert after.round.owner == -1
    assert after.turn == 1
    assert after.legal_moves() == ["S1", "S2"]  # even the lowest


def test_a_show_on_an_emptied_set_captures_nothing() -> None:
    after = at("12/13.82/61.71/38.39", "97@3", 0).play("L1").play("S1")
    assert after.round.captured[1] == 0
    assert after.round.owner == 1


# Which set beats which ------------------------------------------------------------------------

LADDER = [
    ("a higher card beats a lower one", "31", "21"),
    ("two cards beat one", "12.24", "93"),
    ("three cards of a run beat two equal ones", "12.24.36", "97.96"),
    ("equal numbers beat a run of the same count", "13.14", "89.97"),
    ("equal numbers beat the highest run of three", "13.14.15", "74.85.96"),
    ("the run with the higher lowest number wins", "34.46", "28.39"),
    ("a falling run is judged by its lowest number, too", "46.37", "39.28"),
    ("the higher equal numbers win", "34.35", "26.27"),
    ("four of a run beat three equal ones", "12.24.35.47", "97.96.93"),
]


@pytest.mark.parametrize(("why", "stronger", "weaker"), LADDER, ids=[rule[0] for rule in LADDER])
def test_which_set_beats_which(why: str, stronger: str, weaker: str) -> None:
    size, other = stronger.count(".") + 1, weaker.count(".") + 1
    whole = f"S1-{size}" if size > 1 else "S1"
    position = at(f"{stronger}.x/x2/x2", f"{weaker}@2", 0)
    assert active(position.play(whole)) == stronger
    reverse = at(f"{weaker}.x/x2/x2", f"{stronger}@2", 0)
    assert not is_legal(reverse, f"S1-{other}" if other > 1 else "S1")


@pytest.mark.parametrize(
    ("mine", "theirs"), [("34", "35"), ("34.35", "36.37"), ("34.45", "39.48"), ("45.34", "39.48")]
)
def test_equal_is_not_enough(mine: str, theirs: str) -> None:
    position = at(f"{mine}.x/x2/x2", f"{theirs}@2", 0)
    assert not is_legal(position, f"S1-{mine.count('.') + 1}" if "." in mine else "S1")


def test_a_single_card_counts_as_one_kind_and_by_its_number() -> None:
    """It is neither a weak run nor a strong pair: only the number decides."""
    position = at("12.23.35.46.57.68.79.81.92/13.14/61.71", "56@2", 0)
    assert [t for t in shows(position) if "-" not in t] == ["S6", "S7", "S8", "S9"]


def test_a_set_that_was_scouted_from_is_judged_by_what_lies_there() -> None:
    """A run of two that lost a card is a single."""
    position = at("58.91/13.14/61.71/38.39", "34.45@3", 0)
    after = position.play("L1~")
    assert active(after) == "45"
    later = at("58.91/53.14/61.71/38.39", "34.45@3", 0)
    assert not is_legal(later, "S1")  # one card against two
    assert is_legal(later.play("L1"), "S1")  # the next seat's 5 against the 4 that is left


def test_three_equal_cards_that_lost_one_are_a_pair() -> None:
    position = at("58.91/67.68.14/61.71/38.39", "34.35.36@3", 0)
    after = position.play("R1")
    assert active(after) == "34.35"
    assert shows(after) == ["S1-2"]


# End of a round -------------------------------------------------------------------------------


def test_end_i_no_card_left_after_a_show() -> None:
    after = at("57.56/12/61", "34.45@2", 0).play("S1-2")
    assert after.end == "i"
    assert after.legal_moves() == []


def test_end_i_comes_at_once() -> None:
    with pytest.raises(IllegalMoveError, match="the round is over"):
        at("57.56/12/61", "34.45@2", 0).play("S1-2").play("L1")


def test_end_i_by_a_scout_and_show() -> None:
    after = at("57/12/61", "45.56@2", 0, "0").play("R2+S1-2")
    assert after.end == "i"
    assert hand(after, 0) == "-"


def test_end_ii_every_other_player_only_scouted() -> None:
    position = at("12/24.82/61.71/38.39", "34.45.56.67@3", 0)
    for token in ("L1", "L1"):
        position = position.play(token)
        assert position.end == ""
    position = position.play("L1")
    assert position.end == "ii"
    assert position.round.owner == 3
    assert active(position) == "67"


def test_end_ii_when_the_last_scout_empties_the_set() -> None:
    position = at("12/24.82/61.71", "34.45@2", 0)
    position = position.play("L1").play("L1")
    assert active(position) == "-"
    assert position.end == "ii"
    assert position.round.owner == 2


def test_a_show_starts_the_count_of_scouts_anew() -> None:
    position = at("12/84.82.31/61.71", "34.45@2", 0).play("L1").play("S1-2")
    assert position.end == ""
    assert position.play("L1").end == ""
    assert position.play("L1").play("L1").end == "ii"


def test_a_scout_before_the_set_was_emptied_by_others_does_not_end_the_round() -> None:
    """The set is emptied by the second of three others: the third must show."""
    position = at("12/24.82/61.81/38.39", "34.45@3", 0).play("L1").play("L1")
    assert position.end == ""
    assert position.turn == 2
    assert position.legal_moves() == ["S1", "S2"]


def test_a_player_who_scouts_and_shows_has_shown() -> None:
    position = at("12/24.82/61.71", "34.48@2", 0, "1")
    after = position.play("L1").play("L2~+S2-3")
    assert active(after) == "84.82"
    assert after.end == ""
    assert after.round.owner == 1
    assert after.play("L1").play("L1").end == "ii"


# Score of a round -----------------------------------------------------------------------------


def test_score_is_captured_cards_and_chips_less_cards_in_hand() -> None:
    position = Position.parse("57.56/12.13/61.71.81 34.45@2 0 - 10+2/9+1/8+4 -").play("S1-2")
    assert position.end == "i"
    assert position.points() == (10 + 2 + 2, 9 + 1 - 2, 8 + 4 - 3)


def test_in_case_ii_the_owner_pays_nothing_for_the_hand() -> None:
    position = Position.parse("57.56/12.13/61.71.81 34.45@2 0 - 10+2/9+1/8+4 -")
    position = position.play("L1").play("L1")
    assert position.end == "ii"
    assert position.points() == (10 + 2 - 3, 9 + 1 - 3, 8 + 4 + 2)


def test_an_unfinished_round_counts_as_stopped_everybody_pays() -> None:
    position = Position.parse("57.56/12.13/61.71.81 34.45@2 0 - 10+2/9+1/8+4 -")
    assert position.points() == (10 + 2 - 2, 9 + 1 - 2, 8 + 4 - 3)


def test_unused_tokens_and_the_active_set_count_for_nobody() -> None:
    for tokens in ("-", "0", "12", "012"):
        text = f"57.56/12.13/61.71.81 34.45@2 0 {tokens} 10+2/9+1/8+4 -"
        after = Position.parse(text).play("S1-2")
        assert after.points() == (14, 8, 9)
        assert len(after.round.active) == 2
        assert sum(after.points()) == sum(after.round.captured) + 2 + 1 + 4 - 5


# Game -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_game_has_as_many_rounds_as_players(players: int) -> None:
    fresh = str(Position.from_round(deal(players, Rng(3))))
    scores = "/".join("0" * players)
    assert Position.parse(f"{fresh} {players}:{scores}").game is not None
    with pytest.raises(InconsistentPositionError, match=f"has rounds 1 to {players}"):
        Position.parse(f"{fresh} {players + 1}:{scores}")


# Two players ----------------------------------------------------------------------------------


def test_two_players_pay_a_scout_with_an_own_chip_to_the_middle() -> None:
    after = at("12.78/24.82", "34.45@1", 0, chips="3/2").play("L1")
    assert after.round.chips == (2, 2)


def test_two_players_the_turn_goes_on_after_a_scout() -> None:
    after = at("12.78/24.82", "34.45.56@1", 0, chips="3/2").play("L1")
    assert after.turn == 0
    kinds = {token[0] for token in after.legal_moves()}
    assert kinds == {"L", "R", "p"}, "scout again or pass; nothing to show here"
    assert is_legal(after.play("L1"), "S4"), "or show"


def test_two_players_scout_while_chips_last() -> None:
    position = at("12.78/24.82", "34.45.56@1", 0, chips="2/3").play("L1").play("L1")
    assert position.round.chips == (0, 3)
    assert position.turn == 0
    assert not is_legal(position, "L1")
    assert {token[0] for token in position.legal_moves()} == {"S", "p"}


def test_two_players_have_no_scout_and_show() -> None:
    position = at("12.78/24.82", "34.45@1", 0, chips="3/2")
    assert not [token for token in position.legal_moves() if "+" in token]
    with pytest.raises(IllegalMoveError, match="two players have no Scout & Show"):
        position.play("L1+S3")


def test_chips_still_held_at_the_end_count_one_point_each() -> None:
    position = Position.parse("57.56/12.13 34.45@1 0 - 9+3/7+2 -").play("S1-2")
    assert position.end == "i"
    assert position.points() == (9 + 3 + 2, 7 + 2 - 2)


def test_pass_ends_the_round_and_the_owner_pays_nothing() -> None:
    position = Position.parse("57.46/12.13.91 34.45@1 0 - 8+3/7+2 -").play("pass")
    assert position.end == "ii"
    assert position.points() == (8 + 3 - 2, 7 + 2)


def test_pass_after_own_scouts() -> None:
    position = Position.parse("57.46/12.13.91 34.45@1 0 - 8+3/7+2 -").play("L1").play("pass")
    assert position.end == "ii"
    assert position.points() == (8 + 2 - 3, 7 + 2)


def test_pass_is_not_allowed_at_the_first_turn_of_a_round() -> None:
    position = Position.from_round(deal(2, Rng(1))).play("keep").play("keep")
    assert {token[0] for token in position.legal_moves()} == {"S"}
    with pytest.raises(IllegalMoveError, match="there is no active set: the player must show"):
        position.play("pass")


def test_pass_is_not_allowed_when_the_own_scouts_emptied_the_set() -> None:
    position = at("12.78/24.82", "34@1", 0, chips="3/2")
    assert is_legal(position, "pass")
    after = position.play("L1")
    assert after.turn == 0
    assert after.legal_moves() == ["S1", "S2", "S3"]
    assert not is_legal(after, "pass")


def test_the_sheets_edition_lets_a_player_pass_at_will() -> None:
    position = at("57.56/12.13.91", "34.45@1", 0, chips="3/2")
    assert is_legal(position, "S1-2")
    assert is_legal(position, "L1")
    assert is_legal(position, "pass")


def test_the_publishers_edition_allows_pass_only_when_nothing_else_is_possible() -> None:
    can_show = at("57.56/12.13.91", "34.45@1", 0, "f", chips="0/2")
    assert not is_legal(can_show, "pass")
    can_scout = at("57.46/12.13.91", "34.35@1", 0, "f", chips="1/2")
    assert not is_legal(can_scout, "pass")
    neither = at("57.46/12.13.91", "34.35@1", 0, "f", chips="0/2")
    assert neither.legal_moves() == ["pass"]
    assert neither.play("pass").end == "ii"


def test_more_players_never_pass() -> None:
    with pytest.raises(IllegalMoveError, match="3 players cannot pass"):
        at("57.46/12.13/91.92", "34.35@1", 2).play("pass")


def test_two_players_play_round_2_with_the_cards_set_aside_the_other_starting() -> None:
    first = deal(2, Rng(5))
    used = {min(c, (c & 15) << 4 | c >> 4) for seat in (0, 1) for c in first.hand(seat)}
    aside = bytes(card for card in deck(2) if card not in used)
    assert len(aside) == 22
    second = deal(2, Rng(6), aside)
    now = {min(c, (c & 15) << 4 | c >> 4) for seat in (0, 1) for c in second.hand(seat)}
    assert now == set(aside)


# Not in any rule ------------------------------------------------------------------------------


def test_a_round_is_stopped_after_1000_moves_and_everybody_pays() -> None:
    """Single cards shown and scouted in turn, for ever."""
    position = Position.parse(f"{DEALT} - 0f0 012 0+0/0+0/0+0 -")
    for _ in range(3):
        position = position.play("keep")  # flips do not count
    for number in range(1000):
        assert position.end == ""
        position = position.play("S1" if number % 2 == 0 else "L1")
    assert position.end == "cut"
    assert position.legal_moves() == []
    chips = position.round.chips
    assert sum(chips) == 500
    held = [len(position.round.hand(seat)) for seat in range(3)]
    assert position.points() == tuple(c - h for c, h in zip(chips, held, strict=True))


def test_a_scout_and_show_is_one_move_of_the_thousand() -> None:
    position = Position.parse(f"{DEALT} - 0f0 012 0+0/0+0/0+0 -")
    for _ in range(3):
        position = position.play("keep")
    position = position.play("S1").play("L1+S1")
    assert position.round.made == 2
    for number in range(998):
        assert position.end == ""
        position = position.play("L1" if number % 2 == 0 else "S1")
    assert position.end == "cut"


def after_996_moves(seats: str) -> Position:
    """Three players with 996 moves behind them and the same hands as before.

    In six moves seat 0 shows its first card, seat 1 scouts it, seat 2 shows, seat 0 scouts, seat 1
    shows, seat 2 scouts: seats 0 and 2 have exchanged their first cards.
    """
    position = at(seats, "-", 0)
    before = str(position)
    for _ in range(996 // 2):
        position = position.play("S1").play("L1")
    assert position.round.made == 996
    assert str(position).split(" ")[0] == before.split(" ")[0]
    return position


def test_the_cut_after_996_moves_and_four() -> None:
    position = after_996_moves("21.91/61.62.14/31.32")
    for token in ("S1", "L1", "S1"):
        position = position.play(token)
        assert position.end == ""
    assert position.play("L1").end == "cut"


def test_the_end_by_an_empty_hand_comes_before_the_cut() -> None:
    position = after_996_moves("21.91/61.62.14/31.32")
    position = position.play("S1").play("L1").play("S1")
    assert hand(position, 0) == "91"
    assert position.play("S1").end == "i"


def test_the_end_by_scouts_comes_before_the_cut() -> None:
    position = after_996_moves("21.91/61.62.14/31.32")
    position = position.play("S1").play("S1-2").play("L1")
    assert position.end == ""
    position = position.play("L1")
    assert position.end == "ii"
    assert position.round.made == 1000
    round_ = position.round
    assert position.points()[1] == round_.captured[1] + round_.chips[1]
