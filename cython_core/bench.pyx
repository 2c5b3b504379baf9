"""Loops for measuring: the core's work over and over, without Python in between.

Each function copies what it works on into one piece of memory and goes through it from first
to last, again and again, so that no position is met twice in a row.  A checksum takes in
something of every result: no compiler can leave the work out, and two builds can be compared.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from .belief cimport Belief, Knowledge, sample
from .bits cimport ensure
from .moves cimport MAX_LISTED, list_moves, random_move
from .rng cimport Rng
from .sets cimport block_strength
from .state cimport NOBODY, Round, State, active_strength

cdef enum:
    LONGEST_SET = 10


cdef must_be(item, kind):
    """The item, of this class: a cast `<Class?>` would let None through."""
    if not isinstance(item, kind):
        raise TypeError(f"expected a {kind.__name__}, got {type(item).__name__}")
    return item


cdef State* _states(list rounds) except NULL:
    """Copies of the states of rounds that wait for a move of a known hand; to be freed."""
    cdef Round round_
    cdef Py_ssize_t k
    if not rounds:
        raise ValueError("expected at least one round")
    for item in rounds:
        round_ = must_be(item, Round)
        if round_.state.end or round_.state.start != NOBODY:
            raise ValueError("expected rounds after the flip phase that are not over")
        round_._open_turn()
    cdef State* states = <State*>malloc(len(rounds) * sizeof(State))
    if states == NULL:
        raise MemoryError
    for k in range(len(rounds)):
        states[k] = (<Round>rounds[k]).state
    return states


def compare_repeatedly(list rounds, int repeat) -> tuple:
    """Ask of every span of up to ten neighbours of the acting hand whether it is a set that
    beats the active set, one span at a time.

    Args:
        rounds: after the flip phase, not over, the acting hand known.
        repeat: how often to go through all of them.

    Returns:
        (spans asked about, spans that beat the active set).

    Raises:
        ValueError: no rounds, or one that is not as said above.
    """
    cdef State* states = _states(rounds)
    cdef Py_ssize_t k, n = len(rounds)
    cdef int size, first, cards, strength
    cdef uint64_t asked = 0, beating = 0
    cdef const uint8_t* row
    with nogil:
        for _ in range(repeat):
            for k in range(n):
                row = states[k].row[states[k].turn]
                size = states[k].size[states[k].turn]
                strength = active_strength(&states[k])
                for first in range(size):
                    for cards in range(1, min(LONGEST_SET, size - first) + 1):
                        asked += 1
                        beating += block_strength(row + first, cards) > strength
    free(states)
    return asked, beating


def list_repeatedly(list rounds, int repeat) -> tuple:
    """List the moves of every round, one per outcome.

    Args:
        rounds: after the flip phase, not over, the acting hand known.
        repeat: how often to go through all of them.

    Returns:
        (moves listed, checksum of the first, the middle and the last of every list).

    Raises:
        ValueError: no rounds, or one that is not as said above.
    """
    cdef State* states = _states(rounds)
    cdef uint32_t* moves = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
    cdef Py_ssize_t k, n = len(rounds)
    cdef int listed
    cdef uint64_t total = 0, checksum = 0
    if moves == NULL:
        free(states)
        raise MemoryError
    with nogil:
        for _ in range(repeat):
            for k in range(n):
                listed = list_moves(&states[k], False, moves)
                ensure(listed > 0)
                total += listed
                checksum = 31 * checksum + (moves[0] ^ moves[listed >> 1] ^ moves[listed - 1])
    free(moves)
    free(states)
    return total, checksum


def random_moves_repeatedly(list rounds, Rng rng not None, int repeat) -> tuple:
    """Draw a move of every round, uniformly, one per outcome.

    Args:
        rounds: after the flip phase, not over, the acting hand known.
        rng: advanced.
        repeat: how often to go through all of them.

    Returns:
        (moves drawn, checksum of all of them).

    Raises:
        ValueError: no rounds, or one that is not as said above.
    """
    cdef State* states = _states(rounds)
    cdef Py_ssize_t k, n = len(rounds)
    cdef uint64_t drawn = 0, checksum = 0
    with nogil:
        for _ in range(repeat):
            for k in range(n):
                checksum = 31 * checksum + random_move(&states[k], &rng.state)
                drawn += 1
    free(states)
    return drawn, checksum


def sample_repeatedly(list beliefs, Rng rng not None, int repeat) -> tuple:
    """Draw a full round from every belief.

    Args:
        beliefs: what is known, at least one.
        rng: advanced.
        repeat: how often to go through all of them.

    Returns:
        (rounds drawn, checksum of the first card of every hand).

    Raises:
        ValueError: no beliefs.
    """
    cdef Py_ssize_t k, n = len(beliefs)
    cdef int seat
    cdef uint64_t drawn = 0, checksum = 0
    cdef State s
    cdef Knowledge* known = <Knowledge*>malloc(n * sizeof(Knowledge))
    if known == NULL:
        raise MemoryError
    try:
        if not beliefs:
            raise ValueError("expected at least one belief")
        for k in range(n):
            known[k] = (<Belief>must_be(beliefs[k], Belief)).knowledge
        with nogil:
            for _ in range(repeat):
                for k in range(n):
                    sample(&known[k], &rng.state, &s)
                    for seat in range(s.players):
                        checksum = 31 * checksum + s.row[seat][0]
                    drawn += 1
    finally:
        free(known)
    return drawn, checksum
