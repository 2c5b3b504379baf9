# cython: language_level=3
"""Sets: what a block of neighbours is worth, and which blocks of a hand beat a set.

The strength of a set is one number: 32 times its cards, plus 16 unless it is a run, plus
its lowest number.  More cards beat fewer, equal numbers beat a run, then the higher
lowest number wins; a single card counts as one kind.  0 is no set at all.
"""
from libc.stdint cimport uint8_t, uint64_t

from .bits cimport Links, lowest, popcount, row_above, select


cdef inline int set_strength(const uint8_t* row, int n) noexcept nogil:
    """Strength of the n cards of a row that is known to be a set (n <= 10)."""
    # without a branch: whether there is a set is hard to foresee
    cdef int some = n > 0, first = row[0] >> 4, last = row[n - some] >> 4
    return -some & ((n << 5) + ((first == last) << 4) + (first if first < last else last))


cdef inline int block_strength(const uint8_t* row, int n) noexcept nogil:
    """Strength of n neighbouring cards, 0 when they are not a set (or not all known)."""
    cdef int i, step
    if n < 1 or n > 10 or row[0] == 0:
        return 0
    if n > 1:
        step = (row[1] >> 4) - (row[0] >> 4)
        if step < -1 or step > 1:
            return 0
        for i in range(n - 1):
            if row[i + 1] == 0 or (row[i + 1] >> 4) - (row[i] >> 4) != step:
                return 0
    return set_strength(row, n)


# The blocks of a hand that beat a set: `exact` marks where those of `size` cards start,
# the others where those of size + 1 cards start, by kind.
cdef struct Beaters:
    uint64_t exact
    uint64_t equal
    uint64_t up
    uint64_t down
    int size


cdef inline void grow(Beaters* b, const Links* links) noexcept nogil:
    """Go on to blocks of one card more; `exact` stays as it is."""
    b.equal &= links.equal >> b.size
    b.up &= links.up >> b.size
    b.down &= links.down >> b.size
    b.size += 1


cdef inline Beaters beaters_among(uint64_t above, const Links* links, int strength) noexcept nogil:
    """All blocks of a hand that beat a set of this strength (0: none lies there); `above`
    marks the cards above its lowest number."""
    cdef Beaters b
    cdef int size = strength >> 5, k
    b.equal = links.equal
    b.up = links.up
    b.down = links.down
    if size < 2:
        b.size = 1
        b.exact = above  # with nothing to beat: above 0
        return b
    for k in range(1, size - 1):
        b.equal &= links.equal >> k
        b.up &= links.up >> k
        b.down &= links.down >> k
    b.size = size
    if strength & 16:
        b.exact = b.equal & above
    else:
        # the lowest number of a falling run is its last card's
        b.exact = b.equal | (b.up & above) | (b.down & (above >> (size - 1)))
    b.size = size - 1
    grow(&b, links)
    return b


cdef inline Beaters beaters(const uint8_t* row, int n, const Links* links,
                            int strength) noexcept nogil:
    """All blocks of a hand of n cards that beat a set of this strength."""
    return beaters_among(row_above(row, n, strength & 15), links, strength)


cdef inline int count_beaters(Beaters b, const Links* links) noexcept nogil:
    """How many blocks there are."""
    cdef int total = popcount(b.exact)
    cdef uint64_t starts = b.equal | b.up | b.down
    # twice without asking: it is hard to foresee how long blocks get
    total += popcount(starts)
    grow(&b, links)
    starts = b.equal | b.up | b.down
    total += popcount(starts)
    grow(&b, links)
    starts = b.equal | b.up | b.down
    while starts:
        total += popcount(starts)
        grow(&b, links)
        starts = b.equal | b.up | b.down
    return total


cdef inline int pick_beater(Beaters b, const Links* links, int rank, int* cards) noexcept nogil:
    """First place of the block with this rank (shorter ones first); its size goes to *cards."""
    cdef int here = popcount(b.exact)
    cdef uint64_t starts
    if rank < here:
        cards[0] = b.size
        return select(b.exact, rank)
    while True:
        rank -= here
        starts = b.equal | b.up | b.down
        here = popcount(starts)
        if rank < here:
            cards[0] = b.size + 1
            return select(starts, rank)
        grow(&b, links)


cdef inline int chain_length(const Links* links, int place) noexcept nogil:
    """Cards of the longest block that starts at `place`."""
    # at most one of the three kinds goes on from a place
    return (1 + lowest(~(links.equal >> place)) + lowest(~(links.up >> place))
            + lowest(~(links.down >> place)))


cdef inline int list_beaters(const Beaters* b, const Links* links, uint8_t* firsts,
                             uint8_t* lasts) noexcept nogil:
    """Write the blocks by first, then last place; return how many (at most MAX_BLOCKS)."""
    cdef uint64_t starts = b.exact | b.equal | b.up | b.down
    cdef int n = 0, first, last, stop
    while starts:
        first = lowest(starts)
        last = first + b.size - 1
        if not (b.exact >> first) & 1:
            last += 1
        stop = first + chain_length(links, first)
        while last < stop:
            firsts[n] = <uint8_t>first
            lasts[n] = <uint8_t>last
            n += 1
            last += 1
        starts &= starts - 1
    return n


cdef enum:
    # 44 neighbour links, none in more than nine longer blocks that start apart, and 45 cards
    MAX_BLOCKS = 448
