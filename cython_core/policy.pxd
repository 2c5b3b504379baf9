# cython: language_level=3
"""Players that decide at once: `random`, `greedy`, `planner`, and `learned`, which asks a
network for the value of each move."""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from .bits cimport Links, lowest, row_links
from .evaluate cimport Net, learned_move
from .moves cimport ends_to_scout, list_moves, nth_scout, random_move
from .planner cimport planner_choice, planner_move
from .rng cimport RngState, rng_below, rng_next
from .sets cimport Beaters, beaters, grow
from .state cimport (
    FLIP, KEEP, NOBODY, PASS, RUNNING, SCOUT_SHOW, Seen, State, active_strength, may_scout,
    may_scout_show, move_first, move_kind, move_last, plain_move, see, show_move, state_play,
)

cdef enum PolicyKind:
    PLAY_RANDOM = 0
    PLAY_GREEDY = 1
    PLAY_PLANNER = 2
    PLAY_LEARNED = 3

cdef struct Policy:
    int kind
    double scout_cost  # points; the planner's
    const Net* net     # the learned player's


cdef inline uint32_t longest_show(const State* s, int* size) noexcept nogil:
    """The first of the longest Shows; size 0 when there is none."""
    cdef const uint8_t* row = s.row[s.turn]
    cdef Links links = row_links(row, s.size[s.turn])
    cdef Beaters b = beaters(row, s.size[s.turn], &links, active_strength(s))
    cdef uint64_t starts = b.equal | b.up | b.down
    cdef int first = lowest(b.exact) if b.exact else 0
    size[0] = b.size if b.exact else 0
    while starts:
        size[0] = b.size + 1
        first = lowest(starts)
        grow(&b, &links)
        starts = b.equal | b.up | b.down
    return show_move(first, first + size[0] - 1)


cdef inline uint32_t greedy_rule(const State* s, bint* scouts, uint32_t* scratch) noexcept nogil:
    """The greedy player's move, or `scouts` set: then it Scouts, uniformly at random. `scratch`
    has room for a list of moves."""
    cdef int shown, size, most = 0, k, n
    cdef uint32_t move, best = 0
    scouts[0] = False
    if s.start != NOBODY:
        return planner_choice(s)
    move = longest_show(s, &shown)
    if may_scout_show(s):
        n = list_moves(s, False, scratch)
        for k in range(n):
            if move_kind(scratch[k]) == SCOUT_SHOW:
                size = move_last(scratch[k]) - move_first(scratch[k]) + 1
                if size > most:
                    most = size
                    best = scratch[k]
        if most and shown < most + 2:
            return best
    if shown:
        return move
    scouts[0] = may_scout(s)
    return plain_move(PASS)


cdef inline int scouts_there(const State* s) noexcept nogil:
    """How many Scouts there are."""
    return 2 * (s.size[s.turn] + 1) * ends_to_scout(s)


cdef inline uint32_t greedy_move(const State* s, RngState* rng, uint32_t* scratch) noexcept nogil:
    """The greedy player's move; `scratch` has room for a list of moves."""
    cdef bint scouts
    cdef uint32_t move = greedy_rule(s, &scouts, scratch)
    return nth_scout(s, <int>rng_below(rng, <uint32_t>scouts_there(s))) if scouts else move


cdef inline uint32_t policy_move(const Policy* policy, const State* s, const Seen* seen,
                                 RngState* rng, uint32_t* scratch) noexcept nogil:
    """The move of a player; `scratch` has room for a list of moves."""
    if policy.kind == PLAY_PLANNER:
        return planner_move(s, policy.scout_cost)
    if policy.kind == PLAY_GREEDY:
        return greedy_move(s, rng, scratch)
    if policy.kind == PLAY_LEARNED:
        return learned_move(policy.net, s, seen)
    if s.start != NOBODY:
        return plain_move(FLIP if rng_next(rng) & 1 else KEEP)
    return random_move(s, rng)


cdef inline void play_out(State* s, Seen* seen, const Policy* policies, int moves, RngState* rng,
                          uint32_t* scratch) noexcept nogil:
    """Play a round on, each seat by its policy, to its end or for so many moves."""
    cdef uint32_t move
    cdef int k, _k
    cdef bint look = False
    for k in range(s.players):
        look |= policies[k].kind == PLAY_LEARNED
    for _k in range(moves):
        if s.end != RUNNING:
            return
        move = policy_move(&policies[s.turn], s, seen, rng, scratch)
        if look:
            see(seen, s, move)
        state_play(s, move)
