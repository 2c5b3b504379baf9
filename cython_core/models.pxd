# cython: language_level=3
"""Models of players: how likely each makes a decision, and how it plays on.

A model says with what probability a player of its kind, holding a given hand, would have
done what a seat did.  All of them now and then play anything (NOISE), so that nothing is
impossible.
"""
from libc.stdint cimport uint32_t

from .evaluate cimport Net, learned_chance, plain_exp, plain_log
from .moves cimport count_moves
from .planner cimport (
    Shape, planner_flips, planner_move, planner_value, shape_hand,
)
from .policy cimport (
    PLAY_GREEDY, PLAY_LEARNED, PLAY_PLANNER, PLAY_RANDOM, Policy, greedy_rule, scouts_there,
)
from .state cimport FLIP, NOBODY, SCOUT, Seen, State, move_kind, plain_move, scouts_card

cdef enum:
    MODELS = 4
    MODEL_PLANNER = 0
    MODEL_GREEDY = 1
    MODEL_RANDOM = 2
    MODEL_LEARNED = 3


cdef inline double planner_chance(const State* s, uint32_t move) noexcept nogil:
    """Near 1 when the planner values no move higher than this one, less the more another is
    worth: a player whose cost of a Scout is another one, or who errs a little, is like it."""
    cdef Shape shape
    cdef uint32_t best
    cdef double gap
    if s.start != NOBODY:
        return planner_flips(s.row[s.turn], s.size[s.turn]) == (move == plain_move(FLIP))
    best = planner_move(s, 1.0)
    if best == move:
        return 1
    shape_hand(&shape, s.row[s.turn], s.size[s.turn])
    gap = (planner_value(&shape, s, best) - 8 * scouts_card(move_kind(best))
           - planner_value(&shape, s, move) + 8 * scouts_card(move_kind(move))) / 8.0
    return 0.9 * plain_exp(-gap / 0.3) + 0.01 * plain_exp(-gap / 2)


cdef inline double greedy_chance(const State* s, uint32_t move, uint32_t* scratch) noexcept nogil:
    """The chance of a move by the greedy player's rule."""
    cdef bint scouts
    cdef uint32_t chosen = greedy_rule(s, &scouts, scratch)
    if scouts:
        return 1.0 / scouts_there(s) if move_kind(move) == SCOUT else 0
    return chosen == move


cdef inline double log_chance(int model, const Net* net, const State* s, const Seen* seen,
                              uint32_t move, double least, uint32_t* scratch) noexcept nogil:
    """The logarithm of the chance that a player of this kind makes this move here, or something
    below `least`.

    The acting hand must be known; the move must be legal and canonical, or the chance is that
    of noise.
    """
    cdef double any_move = 1.0 / count_moves(s), chance, noise = 0.05, needed
    if model == MODEL_PLANNER:
        chance = planner_chance(s, move)
    elif model == MODEL_GREEDY:
        chance = greedy_chance(s, move, scratch)
    elif model == MODEL_LEARNED:
        needed = 0
        if least > 0:
            return 0  # below it whatever it is
        if least > -600:
            needed = (plain_exp(least) - noise * any_move) / (1 - noise)
        chance = learned_chance(net, s, seen, move, 0.4, max(0.03 * any_move, needed), scratch)
    else:
        chance = any_move
    return plain_log((1 - noise) * chance + noise * any_move)


cdef inline Policy model_policy(int model, const Net* net) noexcept nogil:
    """How a player of this kind plays on."""
    cdef Policy policy
    policy.scout_cost = 1.0
    policy.net = net
    if model == MODEL_PLANNER:
        policy.kind = PLAY_PLANNER
    elif model == MODEL_GREEDY:
        policy.kind = PLAY_GREEDY
    elif model == MODEL_LEARNED:
        policy.kind = PLAY_LEARNED
    else:
        policy.kind = PLAY_RANDOM
    return policy
