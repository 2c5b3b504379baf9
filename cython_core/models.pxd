# cython: language_level=3
"""Models of players: how likely each makes a decision, and how it plays on.

A model says with what probability a player of its kind, holding a given hand, would have
done what a seat did.  All of them now and then play anything, so that nothing is impossible.
"""
from libc.stdint cimport uint32_t

from .evaluate cimport Net, learned_chance, plain_exp, plain_log
from .moves cimport count_moves
from .planner cimport (
    Shape, planner_best, planner_flips, planner_value, shape_hand,
)
from .policy cimport (
    PLAY_GREEDY, PLAY_LEARNED, PLAY_PLANNER, PLAY_RANDOM, Policy, greedy_rule, scouts_there,
)
from .state cimport FLIP, NOBODY, SCOUT, Seen, State, move_kind, plain_move, scouts_card

cdef enum:
    MODELS = 5
    MODEL_PLANNER = 0  # to the letter
    MODEL_GREEDY = 1
    MODEL_RANDOM = 2
    MODEL_LEARNED = 3
    MODEL_LIKE = 4     # much like a planner


cdef inline double planner_chance(const State* s, uint32_t move, bint like,
                                  double least) noexcept nogil:
    """1 for the planner's move, and less for another the more it values its own higher: the
    walk over hands needs a way to those that explain a move.

    `like`: of a player whose cost of a Scout is another one, or who errs a little. It makes the
    planner's own move in about 4 of 10 cases on the average, and others in proportion. What all
    moves of a hand have together is 1 only roughly: to make it so would take all their values.
    `least`: what is below it may be given as 0, which is faster.
    """
    cdef Shape shape
    cdef uint32_t best
    cdef double gap, enough = 1e9
    cdef int value
    if s.start != NOBODY:
        return planner_flips(s.row[s.turn], s.size[s.turn]) == (move == plain_move(FLIP))
    shape_hand(&shape, s.row[s.turn], s.size[s.turn])
    value = planner_value(&shape, s, move) - 8 * scouts_card(move_kind(move))
    if not like and least > 1e-30:
        enough = value - 8 * 0.2 * min(0.0, plain_log(least / 0.1))
    best = planner_best(s, &shape, 1.0, enough)
    if best == move:
        return 0.4 if like else 1
    gap = (planner_value(&shape, s, best) - 8 * scouts_card(move_kind(best)) - value) / 8.0
    if like:
        return 0.36 * plain_exp(-gap / 0.3) + 0.004 * plain_exp(-gap / 2)
    return 0.1 * plain_exp(-gap / 0.2)


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
    cdef double any_move = 1.0 / count_moves(s), chance, noise = 0.05, needed = 0
    if model == MODEL_PLANNER:
        noise = 0.005
    if least > 0:
        return 0  # below it whatever it is
    if least > -600:
        needed = (plain_exp(least) - noise * any_move) / (1 - noise)
    if model == MODEL_PLANNER or model == MODEL_LIKE:
        chance = planner_chance(s, move, model == MODEL_LIKE, needed)
    elif model == MODEL_GREEDY:
        chance = greedy_chance(s, move, scratch)
    elif model == MODEL_LEARNED:
        chance = learned_chance(net, s, seen, move, 0.4, max(0.03 * any_move, needed))
    else:
        chance = any_move
    return plain_log((1 - noise) * chance + noise * any_move)


cdef inline Policy model_policy(int model, const Net* net) noexcept nogil:
    """How a player of this kind plays on."""
    cdef Policy policy
    policy.scout_cost = 1.0
    policy.net = net
    if model == MODEL_PLANNER or model == MODEL_LIKE:
        policy.kind = PLAY_PLANNER
    elif model == MODEL_GREEDY:
        policy.kind = PLAY_GREEDY
    elif model == MODEL_LEARNED:
        policy.kind = PLAY_LEARNED
    else:
        policy.kind = PLAY_RANDOM
    return policy
