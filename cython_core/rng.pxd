# cython: language_level=3
"""The seeded generator: SplitMix64.

Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014),
section 5: a counter with an odd step, its values mixed.  A generator that is split off
gets a step of its own, so that streams are different sequences and not different places
of one.  Bounded numbers are exactly uniform: Lemire, "Fast random integer generation in
an interval" (2019); several from one word: Brackett-Rozinsky and Lemire, "Batched ranged
random integer generation" (2024).
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from .bits cimport mul, popcount, unlikely


cdef struct RngState:
    uint64_t counter
    uint64_t step  # odd


cdef inline uint64_t mixed(uint64_t z) noexcept nogil:
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint64_t mixed_step(uint64_t z) noexcept nogil:
    """An odd step whose bits change often enough (section 5 of the paper)."""
    z = (z ^ (z >> 33)) * <uint64_t>0xFF51AFD7ED558CCD
    z = (z ^ (z >> 33)) * <uint64_t>0xC4CEB9FE1A85EC53
    z = (z ^ (z >> 33)) | 1
    if popcount(z ^ (z >> 1)) < 24:
        z ^= <uint64_t>0xAAAAAAAAAAAAAAAA
    return z


cdef inline RngState rng_seeded(uint64_t seed) noexcept nogil:
    cdef RngState rng
    rng.counter = mixed(seed)
    rng.step = mixed_step(seed + <uint64_t>0x9E3779B97F4A7C15)
    return rng


cdef inline RngState rng_split(const RngState* parent, uint64_t key) noexcept nogil:
    """The stream that belongs to `key`: a pure function of the parent as it stands."""
    cdef uint64_t z = mixed(parent.counter + mixed(key + <uint64_t>0x9E3779B97F4A7C15)
                            * parent.step)
    cdef RngState child
    child.counter = mixed(z)
    child.step = mixed_step(z + <uint64_t>0x9E3779B97F4A7C15)
    return child


cdef inline uint64_t rng_next(RngState* rng) noexcept nogil:
    rng.counter += rng.step
    return mixed(rng.counter)


cdef inline double rng_uniform(RngState* rng) noexcept nogil:
    """Uniform in [0, 1)."""
    return <double>(rng_next(rng) >> 11) * (1.0 / 9007199254740992.0)


cdef inline uint32_t rng_below(RngState* rng, uint32_t bound) noexcept nogil:
    """Uniform in 0 .. bound - 1; bound is at least 1."""
    cdef uint64_t low, limit
    cdef uint64_t high = mul(rng_next(rng), bound, &low)
    if unlikely(low < bound):
        limit = (<uint64_t>0 - bound) % bound
        while low < limit:
            high = mul(rng_next(rng), bound, &low)
    return <uint32_t>high


cdef inline uint8_t turned_by(uint8_t card, uint64_t coin) noexcept nogil:
    """The card, its two numbers swapped when the coin's lowest bit is set."""
    cdef int shift = 4 * <int>(coin & 1)
    return <uint8_t>((card << shift) | (card >> ((8 - shift) & 7)))


cdef inline void rng_shuffle_head(RngState* rng, uint8_t* cards, int n, int head) noexcept nogil:
    """Make the first `head` of n cards a uniform ordered draw, each turned by a fair coin.

    n <= 45.  Up to seven bounded numbers come from one word: their bounds multiply to less
    than 2^39, so the word is thrown away about once in 2^25 draws.
    """
    cdef int i = 0, k, stop, j
    cdef uint64_t low, word, product, coins, limit
    cdef uint8_t card
    cdef int drawn[7]
    while i < head:
        stop = i + 7 if i + 7 < head else head
        coins = rng_next(rng)
        product = 1
        word = rng_next(rng)
        for k in range(i, stop):
            drawn[k - i] = <int>mul(word, n - k, &low)
            word = low
            product *= n - k
        if unlikely(word < product):
            limit = (<uint64_t>0 - product) % product
            while word < limit:
                word = rng_next(rng)
                for k in range(i, stop):
                    drawn[k - i] = <int>mul(word, n - k, &low)
                    word = low
        for k in range(i, stop):
            j = k + drawn[k - i]
            card = cards[j]
            cards[j] = cards[k]
            cards[k] = turned_by(card, coins)
            coins >>= 1
        i = stop


cdef class Rng:
    cdef RngState state
