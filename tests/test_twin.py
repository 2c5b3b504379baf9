"""The plain Python twin against the conformance vectors, and against the rules it was written from.

Every line of every vector file is used, with two exceptions that time asks for:

- perft: a count above ``PERFT_CAP`` is left out (the twin plays every legal move of every position
  on the way: about 30,000 a second).  The lower depths of the same position are still counted.
- games: all are replayed to their points, but only in every ``GAME_STEP``-th game (the step walks
  through all numbers of players) is each move looked up in the twin's list and each seat's view
  followed through the public tokens.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import twin
from twin import Round

VECTORS = Path(__file__).resolve().parent / "vectors"
PERFT_CAP = 110_000
GAME_STEP = 5


def lines(name: str) -> list[dict[str, Any]]:
    with (VECTORS / name).open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def at(text: str, *tokens: str) -> Round:
    """The position of a text after these moves."""
    state = twin.read_position(text)
    for token in tokens:
        state = state.play(token)
    return state


# --- strength -------------------------------------------------------------------------------------


def test_every_set_beats_exactly_the_weaker_ones() -> None:
    ranked = json.loads((VECTORS / "strength.json").read_text(encoding="utf-8"))
    assert len(ranked) == 135
    for i, ours in enumerate(ranked):
        for j, theirs in enumerate(ranked):
            for a in (ours, ours[::-1]):
                for b in (theirs, theirs[::-1]):
                    assert twin.beats(a, b) == (i > j), (a, b)


def test_strength_lists_every_possible_set() -> None:
    ranked = json.loads((VECTORS / "strength.json").read_text(encoding="utf-8"))
    # Nine cards carry a number; a run has at most ten.
    equal = [[number] * length for number in range(1, 11) for length in range(1, 10)]
    runs = [
        list(range(low, low + length)) for length in range(2, 11) for low in range(1, 12 - length)
    ]
    assert sorted(ranked) == sorted(equal + runs)
    assert all(twin.is_block(values) and twin.is_block(values[::-1]) for values in ranked)


@pytest.mark.parametrize(
    "values", [[], [0], [0, 0], [0, 1], [1, 3], [1, 2, 2], [1, 2, 1], [5, 5, 6]]
)
def test_what_is_no_block(values: list[int]) -> None:
    assert not twin.is_block(values)


# --- moves and counts -----------------------------------------------------------------------------


def test_moves_of_the_vectors() -> None:
    wrong = []
    for case in lines("moves.jsonl"):
        state = twin.read_position(case["position"])
        if state.moves() != case["moves"] or len(state.legal_tokens()) != case["legal"]:
            wrong.append(case["position"])
    assert not wrong


def every_token(longest: int) -> Iterator[str]:
    """Every move token with places up to ``longest``, legal or not, in no special order."""
    blocks = [
        f"S{first}" if first == last else f"S{first}-{last}"
        for first in range(1, longest + 1)
        for last in range(first, longest + 1)
    ]
    scouts = [
        f"{end}{n}{turn}" for end in "LR" for n in range(1, longest + 1) for turn in ("", "~")
    ]
    yield from ("pass", "keep", "flip", *blocks, *scouts)
    for scout in scouts:
        for block in blocks:
            yield f"{scout}+{block}"


def test_play_accepts_exactly_the_legal_tokens() -> None:
    """Every eighth position: the check of a move against the list of moves, which share little."""
    for case in lines("moves.jsonl")[::8]:
        state = twin.read_position(case["position"])
        accepted = set()
        for token in every_token(len(state.hands[state.turn]) + 2):
            try:
                state.play(token)
            except twin.IllegalMoveError:
                continue
            accepted.add(token)
        if len(state.active) == 1:  # R is accepted there, but not counted
            right = {token for token in accepted if token.startswith("R")}
            assert right == {token.replace("L", "R") for token in accepted if token[0] == "L"}
            accepted -= right
        assert accepted == set(state.legal_tokens()), case["position"]


@pytest.mark.parametrize("line", range(24))
def test_perft_of_the_vectors(line: int) -> None:
    cases = lines("perft.jsonl")
    assert len(cases) == 24
    state = twin.read_position(cases[line]["position"])
    wanted = [count for count in cases[line]["perft"] if count <= PERFT_CAP]
    assert len(wanted) >= 1
    assert [twin.perft(state, depth) for depth in range(1, len(wanted) + 1)] == wanted


# --- games ----------------------------------------------------------------------------------------


def opening(game: dict[str, Any], index: int) -> Round:
    """The flip phase of one round of a record."""
    dealt = game["rounds"][index]
    hands = [twin.read_row(hand) for hand in dealt["deal"]]
    return twin.first_position(hands, dealt["start"], game.get("forced_pass", False))


def tokens_of(dealt: dict[str, Any]) -> list[str]:
    """The choices of the flip phase and the moves."""
    return ["flip" if flip else "keep" for flip in dealt["flips"]] + list(dealt["moves"])


def test_games_replay_to_their_points() -> None:
    games = lines("games.jsonl")
    assert len(games) == 144
    for number, game in enumerate(games):
        players = len(game["players"])
        totals = [0] * players
        starts = []
        for index, dealt in enumerate(game["rounds"]):
            state = opening(game, index)
            for token in tokens_of(dealt):
                assert not state.end
                state = state.play(token)
            where = f"game {number}, round {index + 1}"
            assert state.end == dealt["end"], where
            assert list(state.points()) == dealt["points"], where
            assert state.made == len(dealt["moves"]), where
            totals = [a + b for a, b in zip(totals, dealt["points"], strict=True)]
            starts.append(dealt["start"])
        assert totals == game["points"]
        first = twin.first_start(opening(game, 0).hands)
        assert starts == [(first + later) % players for later in range(players)]


def test_two_players_deal_the_cards_set_aside() -> None:
    for game in lines("games.jsonl"):
        if len(game["players"]) == 2:
            first = {twin.plain(card) for hand in opening(game, 0).hands for card in hand}
            second = {twin.plain(card) for hand in opening(game, 1).hands for card in hand}
            assert len(first) == len(second) == 22
            assert first | second == set(twin.deck(2))


def test_games_hold_listed_moves_and_public_tokens_lead_to_the_views() -> None:
    """Every ``GAME_STEP``-th game, its first two rounds: each move (or its canonical equal) is in
    the list, and whoever starts from an own view and hears the public tokens gets to the own view
    of the full round."""
    for game in lines("games.jsonl")[::GAME_STEP]:
        for index, dealt in enumerate(game["rounds"][:2]):
            full = opening(game, index)
            views = [full.view(seat) for seat in range(full.players)]
            for token in tokens_of(dealt):
                assert token in full.legal_tokens()
                after = full.play(token)
                assert after in [outcome for _, outcome in full.outcomes()]
                views = [
                    view.play(full.public_token(token, seat)) for seat, view in enumerate(views)
                ]
                full = after
                for seat, view in enumerate(views):
                    assert view.text() == full.view(seat).text()
                    assert view.points() == full.points()
            assert twin.faults(full) == [] or full.end == "ii"


# --- views and sequences --------------------------------------------------------------------------


def test_views_of_the_vectors() -> None:
    games = lines("games.jsonl")
    cases = lines("views.jsonl")
    assert len(cases) == 723
    for case in cases:
        game = games[case["game"]]
        state = opening(game, case["round"] - 1)
        tokens = tokens_of(game["rounds"][case["round"] - 1])
        for token in tokens[: state.players + case["ply"]]:
            state = state.play(token)
        assert state.turn == case["seat"]
        assert state.text() == case["full"]
        assert state.view(case["seat"]).text() == case["position"]


def test_reading_the_views_and_writing_them_back() -> None:
    all_known = 0
    for case in lines("views.jsonl"):
        for text in (case["position"], case["full"]):
            assert twin.read_position(text).text() == text
        if "x" not in case["position"]:
            # Every hidden card was scouted: the text is that of a full position, which no longer
            # says what the seat knows.
            assert case["position"] == case["full"]
            all_known += 1
            continue
        # What is known stays known when the view is read from its text.
        view = twin.read_position(case["position"])
        assert view.view(case["seat"]).text() == case["position"]
    assert all_known == 5


def test_sequences_of_the_vectors() -> None:
    cases = lines("sequences.jsonl")
    assert {case["viewer"] is None for case in cases} == {True, False}
    assert len(cases) == 200
    for case in cases:
        state = twin.read_position(case["position"])
        assert state.text() == case["then"]
        # Their writer gives the cards of a Show exactly as the twin's does.
        at_start = case["position"].partition(" moves ")[0]
        state = twin.read_position(at_start)
        for token in case["position"].partition(" moves ")[2].split(" "):
            move = twin.read_move(token)
            said = twin.write_move(move._replace(cards=()))
            assert state.public_token(said, case["viewer"], move.cards) == token
            state = state.play(token)


# --- position texts -------------------------------------------------------------------------------


def test_good_positions() -> None:
    for case in lines("good_positions.jsonl"):
        assert twin.read_position(case["position"]).text() == case["position"]


def test_lenient_positions_are_not_canonical() -> None:
    for case in lines("lenient_positions.jsonl"):
        assert twin.read_position(case["canonical"]).text() == case["canonical"]
        with pytest.raises(ValueError, match=r"canonical|expected"):
            twin.read_position(case["position"])


def test_bad_positions() -> None:
    for case in lines("bad_positions.jsonl"):
        if case["refused_by"] == "reading":
            with pytest.raises((twin.BadTextError, twin.IllegalMoveError)):
                twin.read_position(case["position"])
        else:
            state = twin.read_position(case["position"].replace("x5.x6", "x11"))
            with pytest.raises(ValueError, match="hidden"):
                state.moves()


THREE = "34.15.84/92.14.61/52.31.85 97.86@2 0 - 7+4/8+0/10+1 -"


def test_a_round_ended_by_scouts_is_written_as_its_last_move() -> None:
    state = at(THREE, "L1", "R4~")
    assert state.end == "ii"
    assert state.owner == 2
    assert state.points() == (7 + 4 - 4, 8 + 0 - 4, 10 + 3)
    assert state.legal_tokens() == []
    assert state.active == ()
    # R on a one-card set is written L.
    text = "97.34.15.84/92.14.61/52.31.85 86@2 1 - 7+4/8+0/10+2 - moves L4~"
    assert state.text() == text
    again = twin.read_position(text)
    assert (again.end, again.points()) == ("ii", state.points())
    assert again.text() == text
    assert state.view(0).text() == "97.34.15.84/x3/x3 86@2 1 - 7+4/8+0/10+2 - moves L4~"


def test_hidden_cards_must_be_said_and_be_possible() -> None:
    view = at("x3/92.14.61/x3 78@1 2 - 7+4/8+0/11+1 12")
    for token in ("S1", "S1:92", "S1:87", "S1:12", "S1:8T", "S1:71", "S1-2:84", "S1-2:84.48"):
        with pytest.raises(twin.IllegalMoveError):
            view.play(token)
    assert view.play("S2:84").text() == "x3/92.14.61/x2 84@2 0 - 7+4/8+0/12+1 12.78"
    for token in ("", "S", "S0", "S01", "S3-3", "S5-3", "L4S3", "+S3", "L4+", "S1:", "s1", "S1:88"):
        with pytest.raises(twin.BadTextError):
            view.play(token)


def test_emptied_set_frees_the_next_player() -> None:
    state = at("34.15.84/72.14.61/52.31.85.21 97@2 0 - 7+4/8+0/10+1 -", "L1")
    assert state.text() == "97.34.15.84/72.14.61/52.31.85.21 - 1 - 7+4/8+0/10+2 -"
    assert state.moves() == ["S1", "S2", "S3"]


def test_two_players_go_on_after_a_scout() -> None:
    state = at("12.13.14.15.16.17.18/23.24.25.26.27.28 56.57@0 1 - 0+3/7+2 -", "L1")
    assert state.turn == 1
    assert state.chips == (3, 1)
    assert state.moves()[-1] == "pass"
    ended = state.play("pass")
    assert (ended.end, ended.owner) == ("ii", 0)
    assert ended.points() == (0 + 3, 7 + 1 - 7)
    emptied = state.play("R1~")
    assert emptied.owner is None
    assert emptied.chips == (3, 0)
    # 7 5 2 2 2 2 2 2: any block, no Scout, no pass.
    twos = [f"S{n}-{m}" if n < m else f"S{n}" for n in range(3, 9) for m in range(n, 9)]
    assert emptied.moves() == ["S1", "S2", *twos]


def test_forced_pass() -> None:
    stuck = "12.13.14.15.16.17.18/23.24.25.26.27.28 56.57@0 1 f 0+3/7+0 -"
    assert at(stuck).moves()[0] == "S1-3"
    with pytest.raises(twin.IllegalMoveError):
        at(stuck, "pass")
    # Nothing to show, no chip: pass is the only move.
    closed = "12.13.14.15.16.17.18/23.34.25.36.27.38 67.68@0 1 f 0+3/7+0 -"
    assert at(closed.replace("67.68@0", "96.98@0")).moves() == ["pass"]
    with pytest.raises(twin.IllegalMoveError):
        at(closed.replace("7+0", "7+1").replace("67.68@0", "96.98@0"), "pass")


def test_the_cut() -> None:
    state = replace(at(THREE), made=twin.MOVE_LIMIT - 2)
    state = state.play("L1")
    assert state.end == ""
    view = state.view(1)
    ended = state.play("S1")
    assert (ended.end, ended.made) == ("cut", twin.MOVE_LIMIT)
    assert ended.points() == (7 + 4 - 4, 8 + 1 - 2, 10 + 2 - 3)
    assert ended.text() == state.text() + " moves S1"
    assert ended.view(1).text() == view.text() + " moves S1"
    assert ended.view(0).text() == state.view(0).text() + " moves S1:92"
    last = replace(at(THREE), made=twin.MOVE_LIMIT - 2).play("L1").play("L1")
    assert last.end == "ii"  # the rules come before the cut


# --- players, counted by hand ---------------------------------------------------------------------


def test_the_worth_of_a_hand() -> None:
    assert twin.hand_worth([]) == 0
    assert twin.hand_worth([4]) == 0
    assert twin.hand_worth([4, 4]) == 2.5
    assert twin.hand_worth([4, 5]) == 2
    assert twin.hand_worth([4, 4, 4]) == 2.5 + 2.5 + 3.5
    assert twin.hand_worth([7, 6, 5, 9]) == 2 + 2 + 3
    assert twin.hand_worth([1, 2, 1]) == 2 + 2


def table(text: str) -> Round:
    """A small table, read without asking whether the cards add up."""
    return twin.read_fields(text)


def test_planner_values() -> None:
    # Seat 0 holds 3 1 8 against a single 9 (7 on its other side).
    state = table("34.15.84/72.14.61/52.31.85 97@2 0 0 0+0/0+0/0+0 -")
    values = dict(twin.planner_values(state))
    assert list(values) == state.moves()
    assert values["L1"] == -4 - 1
    assert values["L3~"] == 0.25 * 2 - 4 - 1
    assert values["L4"] == 0.25 * 2 - 4 - 1
    # The set counts as it lay before the Scout.
    assert values["L1~+S1"] == -3 + 1 - 1
    assert values["L3~+S3-4"] == -2 + 1 - 1
    assert values["L4+S3-4"] == -2 + 1 - 1
    assert twin.planner_move(state) == "L3+S3-4"
    assert dict(twin.planner_values(state, 1.5))["L4+S3-4"] == -2 + 1 - 1.5


def test_planner_ties() -> None:
    # Seat 0 holds a 9 against an 8: to show it is worth 1, to put the 8 next to it -1.5 and the
    # cost, to show both 1 and the cost.
    state = table("92/72.14.61/52.31.85 84@2 0 0 0+0/0+0/0+0 -")
    values = dict(twin.planner_values(state, -2.5))
    assert (values["S1"], values["L1"], values["L2"]) == (1, 1, 1)
    without_token = table("92/72.14.61/52.31.85 84@2 0 - 0+0/0+0/0+0 -")
    assert twin.planner_move(without_token, -2.5) == "L1"
    values = dict(twin.planner_values(state, 0))
    assert (values["S1"], values["L1+S1-2"]) == (1, 1)
    assert twin.planner_move(state, 0) == "S1"


def test_planner_passes_when_strictly_best() -> None:
    state = table("37/72 91@0 1 - 0+3/0+1 -")
    values = {"L1": -3, "L1~": -3, "L2": -3, "L2~": -3, "pass": -1}
    assert dict(twin.planner_values(state)) == values
    assert twin.planner_move(state) == "pass"
    assert twin.planner_move(state, -1) == "L1"


def test_flipping() -> None:
    assert twin.wants_flip([(1, 5), (3, 5)])
    assert not twin.wants_flip([(5, 1), (5, 3)])
    assert not twin.wants_flip([(1, 5), (2, 6)])  # the same on both sides
    state = twin.first_position([[(1, 5), (3, 5)]] * 3, 0)
    assert state.moves() == ["keep", "flip"]
    assert twin.planner_move(state) == "flip"
    assert twin.greedy(state, random.Random(0)) == "flip"


def test_greedy() -> None:
    rng = random.Random(0)
    # 3 3 3 4 against a single 9.
    held = table("34.35.36.47/72.14.61/52.31.85 97@2 0 0 0+0/0+0/0+0 -")
    assert twin.greedy(held, rng) == "L1+S2-4"
    used = table("34.35.36.47/72.14.61/52.31.85 97@2 0 - 0+0/0+0/0+0 -")
    assert twin.greedy(used, rng) == "S1-3"
    # 3 5 against a single 9: no Show.
    none = table("34.52/72.14.61/53.31.85 97@2 0 - 0+0/0+0/0+0 -")
    assert {twin.greedy(none, rng) for _ in range(100)} == {
        "L1", "L1~", "L2", "L2~", "L3", "L3~"
    }  # fmt: skip
    assert twin.greedy(table("37/72 91@0 1 - 0+3/0+0 -"), rng) == "pass"
    assert twin.greedy(table("37/72 91@0 1 - 0+3/0+1 -"), rng)[0] == "L"


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", [1, 2])
def test_whole_rounds(players: int, seed: int) -> None:
    for policy in (twin.random_move, twin.planner, twin.greedy):
        rng = random.Random(seed)
        start = twin.deal(players, rng)
        assert twin.faults(start) == []
        again = random.Random(seed)
        assert twin.deal(players, again) == start
        end = twin.play_round(start, [policy] * players, rng)
        assert end.end in ("i", "ii", "cut")
        assert twin.play_round(start, [policy] * players, again) == end
        cards = [card for hand in end.hands for card in hand] + [*end.active, *end.out]
        assert sorted(map(twin.plain, cards)) == sorted(
            twin.plain(card) for hand in start.hands for card in hand
        )


# --- hidden hands and search ----------------------------------------------------------------------


def test_sampling_hidden_hands() -> None:
    view = at("x2/37.25/x.12 58@0 1 - 17+1/12+0/0+0 -")
    rng = random.Random(3)
    unseen = twin.unseen_cards(view)
    assert len(unseen) == 36 - 4
    places: Counter[tuple[int, int]] = Counter()
    for _ in range(6_400):
        full = twin.sample(view, rng)
        assert twin.HIDDEN not in [card for hand in full.hands for card in hand]
        assert twin.faults(full) == []
        assert full.hands[1] == view.hands[1]
        assert full.hands[2][1] == (1, 2)
        assert replace(full, hands=view.hands) == view
        places[full.hands[0][0]] += 1
    # 64 cards with their orientations, 100 of each expected, standard deviation 10.
    assert set(places) == set(unseen) | {twin.flipped(card) for card in unseen}
    assert 50 <= min(places.values()) <= max(places.values()) <= 150


def test_search_finds_the_end_of_the_round() -> None:
    # Showing both cards ends the round at once; anything else leaves the others to play on.
    view = at("x9/45.46/x8/x6 37@0 1 - 4+1/10+1/2+1/2+1 -")
    lines_found = twin.ismcts(view, 200, random.Random(5))
    assert lines_found[0][0] == "S1-2"
    assert sum(visits for _, visits, _ in lines_found) == 200
    assert twin.ismcts(view, 200, random.Random(5)) == lines_found
    planned = twin.ismcts(view, 40, random.Random(5), twin.planner)
    assert {token for token, _, _ in planned} <= set(view.moves())


def test_search_refuses_a_hidden_hand() -> None:
    with pytest.raises(ValueError, match="open hand"):
        twin.ismcts(at("x9/45.46/x8/x6 37@1 2 - 4+1/10+1/2+1/2+1 -"), 1, random.Random(0))
