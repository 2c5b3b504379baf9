# cython: language_level=3
"""What searches share: a bounded playout, and sums of its outcomes for each root move.

All sums are whole numbers, so that they do not depend on the order in which they are made:
a search gives the same answer on any number of threads.
"""
from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t

from .belief cimport Knowledge
from .chain cimport World, Worlds
from .evaluate cimport Network
from .models cimport MODELS
from .policy cimport Policy
from .rng cimport RngState, rng_below
from .state cimport State, state_points

cdef enum:
    PLAYOUT_MOVES = 200  # a playout is scored as it stands after so many
    POOL_ROUNDS = 512    # rounds from which the rest of a game is drawn
    GAME_DRAWS = 16      # rests of the game that the outcome of a playout is weighed in
    WIN_UNITS = 960      # 60 for each: a win shared by up to five players is a whole number


# Sums over the playouts of one root move, for the seat to move.
cdef struct Sums:
    int64_t visits
    int64_t points
    int64_t points_squared
    int64_t margin           # players * points - sum of all points, see `margin_units`
    int64_t margin_squared
    int64_t win              # in WIN_UNITS
    int64_t win_squared
    int64_t win_margin       # products of the two


# The game around the round: what has been scored, and rounds like those to come.
cdef struct Ahead:
    bint known
    int rounds_left                # after this one
    int32_t scores[5]
    int16_t pool[512][5]           # points of planners, by distance from the starting seat


cdef inline int margin_units(const State* s, int seat, const int* points) noexcept nogil:
    """(players - 1) times the points of a seat minus the mean of the others."""
    cdef int other, total = 0
    for other in range(s.players):
        total += points[other]
    return s.players * points[seat] - total


cdef inline int first_share(const int* totals, int players, int seat) noexcept nogil:
    """60 shared among the seats that have the most."""
    cdef int other, best = -100000, ties = 0
    for other in range(players):
        if totals[other] > best:
            best = totals[other]
            ties = 0
        ties += totals[other] == best
    return 60 // ties if totals[seat] == best else 0


cdef inline int win_share(const State* s, int seat, const int* points, const Ahead* ahead,
                          RngState* rng) noexcept nogil:
    """WIN_UNITS shared among the seats that are first: in the game when it is known, else
    in the round."""
    cdef int totals[5]
    cdef int other, later, start, drawn, share = 0, players = s.players, _k
    if not ahead.known or not ahead.rounds_left:
        for other in range(players):
            totals[other] = points[other] + ahead.scores[other]
        return GAME_DRAWS * first_share(totals, players, seat)
    for _k in range(GAME_DRAWS):
        for other in range(players):
            totals[other] = points[other] + ahead.scores[other]
        # who starts the rounds to come is not in a position: any seat, then in turn
        start = <int>rng_below(rng, <uint32_t>players)
        for later in range(ahead.rounds_left):
            drawn = <int>rng_below(rng, POOL_ROUNDS)
            for other in range(players):
                totals[(start + later + other) % players] += ahead.pool[drawn][other]
        share += first_share(totals, players, seat)
    return share


cdef inline void add_outcome(Sums* sums, const State* s, int seat, const Ahead* ahead,
                             RngState* rng) noexcept nogil:
    """Add a finished playout to the sums of the root move that led to it."""
    cdef int points[5]
    cdef int other, margin, win
    for other in range(s.players):
        points[other] = state_points(s, other)
    margin = margin_units(s, seat, points)
    sums.visits += 1
    sums.points += points[seat]
    sums.points_squared += points[seat] * points[seat]
    sums.margin += margin
    sums.margin_squared += margin * margin
    win = win_share(s, seat, points, ahead, rng)
    sums.win += win
    sums.win_squared += <int64_t>win * win
    sums.win_margin += <int64_t>win * margin


cdef inline void merge_sums(Sums* into, const Sums* more) noexcept nogil:
    into.visits += more.visits
    into.points += more.points
    into.points_squared += more.points_squared
    into.margin += more.margin
    into.margin_squared += more.margin_squared
    into.win += more.win
    into.win_squared += more.win_squared
    into.win_margin += more.win_margin


cdef class Root:
    cdef readonly Network network   # None: planners play out
    cdef Policy family[MODELS]           # how the models of the drawn worlds play on
    cdef Knowledge knowledge
    cdef RngState rng
    cdef int seat
    cdef int count
    cdef uint32_t* moves            # best first, see `moves_ranked`
    cdef int* values                # planner's: in eighths of a point; rated: in 1/FINE of one
    cdef readonly int rated         # moves that the network has valued, the first ones
    cdef Sums* sums                 # by move
    cdef Policy policies[5]
    cdef Ahead ahead
    cdef void world(self, const World* drawn, RngState* rng, State* s,
                    Policy* policies) noexcept nogil
    cdef int _check_worlds(self, Worlds worlds) except -1
