# cython: language_level=3
"""Inputs of the evaluation: what a seat sees after its move, as numbers of inputs that are on.

Those of the first group (`Eyes`) are the same for all moves of a decision, those of the
second (`after_inputs`) depend on the move.  Nothing hidden is looked at: of the other hands
only their sizes and the cards that everybody saw scouted.  A hand read from right to left
has the same inputs, since it can do the same; but of equally strong blocks the peeling takes
the left one, and what it finds then may differ (in 3% of the positions).
"""
from libc.stdint cimport uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from .bits cimport Links, links_of, lowest, pair_inputs, popcount, row_close, row_links
from .cards cimport ROW_BYTES, card_id, row_set
from .moves cimport NO_STEP, arm_before, arm_from, step_between
from .sets cimport Beaters, beaters, count_beaters
from .state cimport NOBODY, Seen, State, active_strength

# Where each family of inputs begins. A block has 150 numbers, see block_input.
cdef enum:
    IN_SIZE = 0                         # cards of the own hand, 0 .. 23
    IN_CHAIN = IN_SIZE + 24             # its longest blocks
    IN_JOIN = IN_CHAIN + 150            # what is joined when one leaves: 3 * 2 * 5
    IN_PEEL = IN_JOIN + 30              # the first three blocks of the peeling
    IN_PEELS = IN_PEEL + 450            # how many there are, 0 .. 15
    IN_PAIR = IN_PEELS + 16             # numbers of two neighbours
    IN_NEXT = IN_PAIR + 55              # of two cards with one between them
    IN_EDGE = IN_NEXT + 55              # of the outer cards
    IN_ACTIVE = IN_EDGE + 10            # the active set: of another, own
    IN_END = IN_ACTIVE + 300            # the cards at its ends: of another, own
    IN_OWNER = IN_END + 90              # the owner's distance, by cards of the set
    IN_NO_SET = IN_OWNER + 25           # distance of who shows next: in the round, when flipping
    IN_TURN = IN_NO_SET + 10            # the turn goes on (two players): with a set, without
    IN_SHOWS = IN_TURN + 2              # how many own blocks beat the set: of another, own
    IN_TOKENS = IN_SHOWS + 18           # who holds Scout & Show, by distance
    IN_THEIR_SIZE = IN_TOKENS + 5       # by distance 1 .. 4: cards in hand, 0 .. 20
    IN_THEIR_KNOWN = IN_THEIR_SIZE + 84  # of them known, 0 .. 6
    IN_THEIR_BEATS = IN_THEIR_KNOWN + 28  # known cards beat the set
    IN_THEIR_NUMBER = IN_THEIR_BEATS + 4  # numbers of known cards
    IN_SMALLEST = IN_THEIR_NUMBER + 40  # cards of the smallest other hand, 0 .. 12
    IN_UNSEEN = IN_SMALLEST + 13        # by number: unseen cards that carry it, 0 .. 9
    IN_CAPTURED = IN_UNSEEN + 100       # cards captured by all, in threes
    IN_CHIPS = IN_CAPTURED + 15         # two players: own chips, the other's
    IN_COUNT = IN_CHIPS + 8
    MAX_ON = 320                        # inputs of one position at most


# What a seat knows of the table when it decides.
cdef struct Eyes:
    int seat
    int count                # inputs that are on whatever the move
    uint16_t inputs[128]
    int rivals               # other seats with known cards
    int distance[4]
    int size[4]
    uint8_t row[4][64]       # their cards, hidden ones 0
    Links links[4]           # between known cards only


cdef inline int at_most(int value, int most) noexcept nogil:
    return value if value < most else most


cdef inline int block_input(int cards, bint equal, int low) noexcept nogil:
    """0 .. 149: single cards, equal numbers, runs; eight cards and more are one length."""
    if cards == 1:
        return low - 1
    return (10 if equal else 80) + 10 * (at_most(cards, 8) - 2) + low - 1


cdef inline uint64_t cards_with(int number) noexcept nogil:
    """All cards that carry a number, as a set of card ids."""
    cdef uint64_t cards = 0
    cdef int other
    for other in range(1, 11):
        if other != number:
            cards |= <uint64_t>1 << card_id(<uint8_t>(number << 4 | other))
    return cards


cdef inline uint64_t whole_deck(int players) noexcept nogil:
    if players == 5:
        return (<uint64_t>1 << 45) - 1
    # ids ascend with the higher number: ten's cards come last, 9/10 the very last
    return (<uint64_t>1 << (36 if players == 3 else 44)) - 1


cdef inline void open_eyes(Eyes* e, const State* s, const Seen* seen, int seat) noexcept nogil:
    """Look around before a move of a seat whose hand is known."""
    cdef int distance, other, place, known, k, number, smallest = 99, players = s.players
    cdef uint16_t* out = e.inputs
    cdef uint64_t gone, scouted, unseen
    cdef uint64_t fresh = row_set(s.row[seat], s.size[seat]) | row_set(s.active, s.active_size)
    cdef uint8_t card
    e.seat = seat
    e.rivals = 0
    fresh |= seen.out
    for distance in range(1, players):
        other = seat + distance
        if other >= players:
            other -= players
        out[0] = <uint16_t>(IN_THEIR_SIZE + 21 * (distance - 1) + at_most(s.size[other], 20))
        out += 1
        if s.size[other] < smallest:
            smallest = s.size[other]
        if (s.tokens >> other) & 1:
            out[0] = <uint16_t>(IN_TOKENS + distance)
            out += 1
        scouted = seen.scouted[other]
        known = popcount(scouted)
        out[0] = <uint16_t>(IN_THEIR_KNOWN + 7 * (distance - 1) + at_most(known, 6))
        out += 1
        if known:
            k = e.rivals
            e.rivals += 1
            e.distance[k] = distance
            e.size[k] = s.size[other]
            memset(e.row[k], 0, ROW_BYTES)
            while scouted:
                place = lowest(scouted)
                scouted &= scouted - 1
                card = s.row[other][place]
                e.row[k][place] = card
                fresh |= <uint64_t>1 << card_id(card)
                if out - e.inputs < 80:
                    out[0] = <uint16_t>(IN_THEIR_NUMBER + 10 * (distance - 1) + (card >> 4) - 1)
                    out += 1
            e.links[k] = row_links(e.row[k], s.size[other])
            gone = seen.scouted[other] & seen.scouted[other] >> 1
            e.links[k].equal &= gone
            e.links[k].up &= gone
            e.links[k].down &= gone
    out[0] = <uint16_t>(IN_SMALLEST + at_most(smallest, 12))
    out += 1
    unseen = whole_deck(players) & ~fresh
    for number in range(1, 11):
        out[0] = <uint16_t>(IN_UNSEEN + 10 * (number - 1) + popcount(unseen & cards_with(number)))
        out += 1
    e.count = <int>(out - e.inputs)


cdef inline uint64_t closed(uint64_t links, int first, int cards, bint joined) noexcept nogil:
    """The links of one kind when so many cards from `first` on have left; `joined`: those on both
    sides are linked then."""
    cdef uint64_t bit = <uint64_t>1 << first
    return links >> cards & ~(bit - 1) | links & (bit - 1) >> 1 | (bit >> 1 if joined else 0)


cdef inline uint16_t* peel_inputs(const uint8_t* hand, int n, Links links,
                                  uint16_t* out) noexcept nogil:
    """Take the strongest block out again and again until nothing is left."""
    cdef uint8_t row[64]
    cdef uint64_t equal, up, down, e, u, d
    cdef int peels = 0, cards, first, low, k, best, at, step
    memcpy(row, hand, ROW_BYTES)
    while n and peels < 15:
        e, u, d = links.equal, links.up, links.down
        cards = 1
        equal = up = down = 0
        while e | u | d:
            equal, up, down = e, u, d
            cards += 1
            e &= links.equal >> (cards - 1)
            u &= links.up >> (cards - 1)
            d &= links.down >> (cards - 1)
        best = -1
        first = 0
        if cards == 1:
            # a card whose leaving joins its neighbours, else the highest
            for k in range(n):
                low = row[k] >> 4
                if (0 < k < n - 1
                        and step_between(row[k - 1] >> 4, row[k + 1] >> 4) != NO_STEP):
                    low += 16
                if low > best:
                    best = low
                    first = k
            best &= 15
        elif equal:
            while equal:
                at = lowest(equal)
                equal &= equal - 1
                low = row[at] >> 4
                if low > best:
                    best = low
                    first = at
            e = 1
        else:
            while up:
                at = lowest(up)
                up &= up - 1
                low = row[at] >> 4
                if low > best:
                    best = low
                    first = at
            while down:
                at = lowest(down)
                down &= down - 1
                low = row[at + cards - 1] >> 4
                if low > best:
                    best = low
                    first = at
            e = 0
        if peels < 3:
            out[0] = <uint16_t>(IN_PEEL + 150 * peels + block_input(cards, e != 0, best))
            out += 1
        step = NO_STEP
        if first > 0 and first + cards < n:
            step = step_between(row[first - 1] >> 4, row[first + cards] >> 4)
        links.down = closed(links.down, first, cards, step == -1)
        links.equal = closed(links.equal, first, cards, step == 0)
        links.up = closed(links.up, first, cards, step == 1)
        row_close(row, n, first, cards)
        n -= cards
        peels += 1
    out[0] = <uint16_t>(IN_PEELS + peels)
    return out + 1


cdef inline uint16_t* leaving_input(const uint8_t* row, int n, const Links* links, int first,
                                    int last, uint16_t* out) noexcept nogil:
    """What is joined when the cards from first to last leave, if something is."""
    cdef int step, cards
    cdef uint64_t mask
    if first == 0 or last + 1 >= n:
        return out
    step = step_between(row[first - 1] >> 4, row[last + 1] >> 4)
    if step == NO_STEP:
        return out
    mask = links_of(links, step)
    cards = arm_before(mask, first) + arm_from(mask, last + 1)
    out[0] = <uint16_t>(IN_JOIN + 10 * (at_most(last - first + 1, 3) - 1) + 5 * (step == 0)
                        + at_most(cards, 6) - 2)
    return out + 1


cdef inline uint16_t* hand_inputs(const uint8_t* row, int n, const Links* links,
                                  uint16_t* out) noexcept nogil:
    cdef int first, last, low, step
    cdef uint64_t mask, starts, alone
    out[0] = <uint16_t>(IN_SIZE + at_most(n, 23))
    out += 1
    if n == 0:
        return out
    alone = links.equal | links.up | links.down
    alone = ~(alone | alone << 1) & ((<uint64_t>1 << n) - 1)
    while alone:
        first = lowest(alone)
        alone &= alone - 1
        out[0] = <uint16_t>(IN_CHAIN + (row[first] >> 4) - 1)
        out = leaving_input(row, n, links, first, first, out + 1)
    for step in range(-1, 2):
        mask = links_of(links, step)
        starts = mask & ~(mask << 1)
        while starts:
            first = lowest(starts)
            starts &= starts - 1
            last = first + arm_from(mask, first) - 1
            low = row[last if step < 0 else first] >> 4
            out[0] = <uint16_t>(IN_CHAIN + block_input(last - first + 1, step == 0, low))
            out = leaving_input(row, n, links, first, last, out + 1)
    pair_inputs(row, n - 1, 1, IN_PAIR, out)
    out += n - 1
    if n > 2:
        pair_inputs(row, n - 2, 2, IN_NEXT, out)
        out += n - 2
    out[0] = <uint16_t>(IN_EDGE + (row[0] >> 4) - 1)
    out[1] = <uint16_t>(IN_EDGE + (row[n - 1] >> 4) - 1)
    return peel_inputs(row, n, links[0], out + 2)


cdef inline int after_inputs(const Eyes* e, const State* s, uint16_t* out) noexcept nogil:
    """Write the inputs that depend on the move; `s` is the position after it."""
    cdef uint16_t* start = out
    cdef int seat = e.seat, n = s.size[seat], players = s.players, k, captured = 0, strength
    cdef int distance, cards
    cdef bint own = s.owner == seat
    cdef const uint8_t* row = s.row[seat]
    cdef Links links = row_links(row, n)
    out = hand_inputs(row, n, &links, out)
    if (s.tokens >> seat) & 1:
        out[0] = IN_TOKENS
        out += 1
    for k in range(players):
        captured += s.captured[k]
    out[0] = <uint16_t>(IN_CAPTURED + at_most(captured // 3, 14))
    out += 1
    if players == 2:
        out[0] = <uint16_t>(IN_CHIPS + at_most(s.chips[seat], 3))
        out[1] = <uint16_t>(IN_CHIPS + 4 + at_most(s.chips[1 - seat], 3))
        out += 2
        if s.turn == seat and s.start == NOBODY:
            out[0] = <uint16_t>(IN_TURN + (s.active_size == 0))
            out += 1
    if s.active_size == 0:
        distance = (s.turn if s.start == NOBODY else s.start) - seat
        distance += players if distance < 0 else 0
        out[0] = <uint16_t>(IN_NO_SET + 5 * (s.start != NOBODY) + distance)
        return <int>(out - start) + 1
    strength = active_strength(s)
    cards = s.active_size
    distance = s.owner - seat
    distance += players if distance < 0 else 0
    out[0] = <uint16_t>(IN_ACTIVE + 150 * own
                        + block_input(cards, cards > 1 and (strength & 16) != 0, strength & 15))
    out[1] = <uint16_t>(IN_OWNER + 5 * distance + at_most(cards, 5) - 1)
    out[2] = <uint16_t>(IN_END + 45 * own + card_id(s.active[0]))
    out += 3
    if cards > 1:
        out[0] = <uint16_t>(IN_END + 45 * own + card_id(s.active[cards - 1]))
        out += 1
    out[0] = <uint16_t>(IN_SHOWS + 9 * own
                        + at_most(count_beaters(beaters(row, n, &links, strength), &links), 8))
    out += 1
    for k in range(e.rivals):
        if count_beaters(beaters(e.row[k], e.size[k], &e.links[k], strength), &e.links[k]):
            out[0] = <uint16_t>(IN_THEIR_BEATS + e.distance[k] - 1)
            out += 1
    return <int>(out - start)
