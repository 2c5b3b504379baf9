"""Players that decide at once, and whole rounds between them; the formulas are in planner.pxd."""
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from libc.string cimport memset

from .cards cimport MAX_PLAYERS, fill_deck
from .evaluate cimport Network
from .moves cimport MAX_LISTED
from .planner cimport Shape, hand_h, planner_value, shape_hand
from .rng cimport Rng, rng_seeded, rng_split
from .state cimport (
    CUT, MAX_MOVES_MADE, SCOUT, SCOUT_SHOW, Round, Seen, see, state_deal, state_points,
)

cdef dict KINDS = {"random": PLAY_RANDOM, "greedy": PLAY_GREEDY, "planner": PLAY_PLANNER}


cdef Policy _policy(kind, double scout_cost) except *:
    """The policy of a name, or of a Network, which must outlive it."""
    cdef Policy policy
    policy.scout_cost = scout_cost
    policy.net = NULL
    if isinstance(kind, Network):
        policy.kind = PLAY_LEARNED
        policy.net = (<Network>kind).net
    elif kind in KINDS:
        policy.kind = KINDS[kind]
    else:
        raise ValueError(f"expected a policy (random, greedy, planner) or a network: {kind!r}")
    return policy


cdef int _must_fit(kind, int players) except -1:
    return (<Network>kind).must_fit(players) if isinstance(kind, Network) else 0


cdef uint32_t* _scratch() except NULL:
    cdef uint32_t* memory = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
    if memory == NULL:
        raise MemoryError
    return memory


def choose(Round round_ not None, policy, Rng rng not None, double scout_cost=1.0) -> int:
    """The move that a player makes for the acting seat.

    Args:
        round_: a round that is not over; the acting hand is known.
        policy: "random", "greedy", "planner", or a Network for the learned player.
        rng: advanced where the player draws (random; greedy's Scouts).
        scout_cost: what the planner takes off for a Scout, in points.

    Returns:
        The code of a legal move, one per outcome.

    Raises:
        ValueError: an unknown policy, the round is over, or the acting hand is hidden.
    """
    cdef Policy player = _policy(policy, scout_cost)
    cdef uint32_t* scratch
    _must_fit(policy, round_.state.players)
    if round_.state.end:
        raise ValueError("the round is over")
    round_._open_turn()
    scratch = _scratch()
    try:
        return policy_move(&player, &round_.state, &round_.seen, &rng.state, scratch)
    finally:
        free(scratch)


def planner_values(Round round_ not None, double scout_cost=1.0) -> list:
    """The planner's value of every move of the acting seat, one per outcome.

    Args:
        round_: after the flip phase, the acting hand known.
        scout_cost: what is taken off for a Scout, in points.

    Returns:
        (move code, value in points) in canonical order.

    Raises:
        ValueError: the flip phase, or the acting hand is hidden.
    """
    cdef Shape shape
    cdef uint32_t code
    if round_.state.start != NOBODY:
        raise ValueError("expected a position after the flip phase")
    codes = round_.moves()
    shape_hand(&shape, round_.state.row[round_.state.turn], round_.state.size[round_.state.turn])
    return [(code, planner_value(&shape, &round_.state, code) / 8.0
             - (scout_cost if move_kind(code) in (SCOUT, SCOUT_SHOW) else 0.0))
            for code in codes]


def planner_h(bytes hand) -> float:
    """h of a hand: over all blocks of at least two neighbours their length, and a half more
    for equal numbers.

    Raises:
        ValueError: more than 45 cards.
    """
    if len(hand) > 45:
        raise ValueError(f"expected at most 45 cards: {len(hand)}")
    cdef bytes row = hand.ljust(64, b"\0")
    return hand_h(<const uint8_t*>row, len(hand)) / 2.0


def play_rounds(policies, Rng rng not None, Py_ssize_t rounds, scout_costs=None) -> dict:
    """Play rounds from fresh deals, one policy a seat.

    Each round has a random stream of its own, split from `rng` by its number.

    Args:
        policies: the policy of each seat, 2 to 5 of them; see `choose`.
        rng: not advanced.
        rounds: how many.
        scout_costs: the planner's Scout cost of each seat, in points (default 1).

    Returns:
        `rounds`, `moves` (flips not counted), `cut` (rounds stopped), `points` (a list:
        sum by seat).

    Raises:
        ValueError: an unknown policy, or not 2 to 5 seats.
    """
    cdef int seat, players = len(policies)
    cdef Policy seats[5]
    cdef uint8_t deck[45]
    cdef int cards
    cdef State s
    cdef Seen seen
    cdef RngState stream
    cdef Py_ssize_t k, moves = 0, cut = 0
    cdef int64_t points[5]
    cdef uint32_t* scratch
    if not 2 <= players <= MAX_PLAYERS:
        raise ValueError(f"expected 2 to 5 policies: {players}")
    for seat in range(players):
        seats[seat] = _policy(policies[seat], scout_costs[seat] if scout_costs else 1.0)
        _must_fit(policies[seat], players)
        points[seat] = 0
    cards = fill_deck(players, deck)
    scratch = _scratch()
    with nogil:
        for k in range(rounds):
            stream = rng_split(&rng.state, <uint64_t>k)
            state_deal(&s, players, &stream, deck, cards)
            memset(&seen, 0, sizeof(Seen))
            play_out(&s, &seen, seats, MAX_MOVES_MADE + MAX_PLAYERS, &stream, scratch)
            moves += s.made
            cut += s.end == CUT
            for seat in range(players):
                points[seat] += state_points(&s, seat)
    free(scratch)
    return {"rounds": rounds, "moves": moves, "cut": cut,
            "points": [points[seat] for seat in range(players)]}


def contest(a, b, int players, Rng rng not None, Py_ssize_t first, Py_ssize_t last) -> list:
    """One player against a table of others: boards from fresh deals, each played once for
    every seat that A can take.

    Args:
        a: the policy of one seat: (policy, the planner's Scout cost in points); see `choose`.
        b: that of all others.
        players: 2 to 5.
        rng: not advanced; each board has a stream of its own, split off by its number.
        first: number of the first board.
        last: number behind the last board.

    Returns:
        for each board the means over A's seats of: margin in points, points, share of wins.

    Raises:
        ValueError: an unknown policy, or not 2 to 5 players.
    """
    cdef Policy kinds[2]
    cdef Policy seats[5]
    cdef uint8_t deck[45]
    cdef int cards, seat, other, points, total, ties, best
    cdef int64_t margin, own, wins
    cdef State dealt, s
    cdef Seen seen
    cdef RngState stream, rest
    cdef Py_ssize_t k
    cdef uint32_t* scratch
    if not 2 <= players <= MAX_PLAYERS:
        raise ValueError(f"expected 2 to 5 players: {players}")
    for seat, (kind, cost) in enumerate((a, b)):
        kinds[seat] = _policy(kind, cost)
        _must_fit(kind, players)
    cards = fill_deck(players, deck)
    scratch = _scratch()
    boards = []
    for k in range(first, last):
        stream = rng_split(&rng.state, <uint64_t>k)
        state_deal(&dealt, players, &stream, deck, cards)
        margin = own = wins = 0
        with nogil:
            for seat in range(players):
                for other in range(players):
                    seats[other] = kinds[other != seat]
                s = dealt
                rest = stream
                memset(&seen, 0, sizeof(Seen))
                play_out(&s, &seen, seats, MAX_MOVES_MADE + MAX_PLAYERS, &rest, scratch)
                total = 0
                best = -10000
                ties = 0
                for other in range(players):
                    points = state_points(&s, other)
                    total += points
                    if points > best:
                        best = points
                        ties = 0
                    ties += points == best
                points = state_points(&s, seat)
                margin += players * points - total
                own += points
                wins += 60 // ties if points == best else 0
        boards.append((margin / (players * (players - 1.0)), own / <double>players,
                       wins / (60.0 * players)))
    free(scratch)
    return boards


cdef int _seat_policies(Round round_, policies, scout_costs, Policy* out) except -1:
    """The policy of each seat of a full round."""
    cdef int seat
    if len(policies) != round_.state.players:
        raise ValueError(f"expected {round_.state.players} policies: {len(policies)}")
    for seat in range(round_.state.players):
        out[seat] = _policy(policies[seat], scout_costs[seat] if scout_costs else 1.0)
        _must_fit(policies[seat], round_.state.players)
        if round_.hidden(seat):
            raise ValueError(f"expected known hands: {round_.hidden(seat)} cards of seat {seat} "
                             "are hidden")
    return 0


def play_logged(Round round_ not None, policies, seeds, scout_costs=None) -> list:
    """Play a full round to its end in place and return every decision.

    A player's decision number k of the round (counted over all seats, from 0) draws from
    `Rng(Rng(seed of its seat).split(k).next64())`, so that it can be repeated alone.

    Args:
        round_: all hands known.
        policies: the policy of each seat.
        seeds: of each seat, 0 to 2**64 - 1.
        scout_costs: the planner's Scout cost of each seat, in points (default 1).

    Returns:
        Move codes, the choices to keep or flip included.

    Raises:
        ValueError: hidden cards, an unknown policy, or another number of seats.
    """
    cdef Policy players[5]
    cdef RngState streams[5]
    cdef RngState rng
    cdef uint32_t codes[1005]
    cdef uint32_t* scratch
    cdef int n = 0
    _seat_policies(round_, policies, scout_costs, players)
    if len(seeds) != round_.state.players:
        raise ValueError(f"expected {round_.state.players} seeds: {len(seeds)}")
    for seat in range(round_.state.players):
        streams[seat] = rng_seeded(seeds[seat])
    scratch = _scratch()
    with nogil:
        while round_.state.end == RUNNING:
            rng = rng_split(&streams[round_.state.turn], n)
            rng = rng_seeded(rng_next(&rng))
            codes[n] = policy_move(&players[round_.state.turn], &round_.state, &round_.seen, &rng,
                                   scratch)
            see(&round_.seen, &round_.state, codes[n])
            state_play(&round_.state, codes[n])
            n += 1
    free(scratch)
    return [codes[k] for k in range(n)]
