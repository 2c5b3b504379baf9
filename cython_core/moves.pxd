# cython: language_level=3
"""The moves of the seat to move: listed, counted, and drawn uniformly without a list.

Lists hold one move per outcome, in canonical order.  Two Scout & Shows lead to the same
outcome only when the scouted card is shown alone (its place does not matter: the first is
kept), or when it is put to one side or the other of the block that leaves (the left is
kept).  The acting hand must be known.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from .bits cimport (
    Links, append_blocks, highest, links_of, lowest, popcount, row_above, row_links, row_near,
    select, unlikely,
)
from .rng cimport RngState, rng_below
from .sets cimport (
    MAX_BLOCKS, Beaters, beaters, beaters_among, count_beaters, grow, list_beaters, pick_beater,
    set_strength,
)
from .state cimport (
    END_SHIFT, FLIP, KEEP, KIND_SHIFT, NOBODY, PASS, PLACE_SHIFT, RUNNING, SCOUT_SHOW,
    TURNED_SHIFT, State, active_strength, end_card, may_scout, may_scout_show, plain_move,
    scout_move, show_move,
)

cdef enum:
    # No hand can have more: at most 448 blocks, each with 46 places, two sides and two ends.
    MAX_LISTED = 90000
    NO_STEP = 9  # two numbers that do not neighbour in any block


cdef inline int step_between(int left, int right) noexcept nogil:
    """0, 1 or -1 when two active numbers can stand side by side in a block, else NO_STEP."""
    cdef int step = right - left
    return step if -1 <= step <= 1 else NO_STEP


cdef inline int arm_before(uint64_t mask, int place) noexcept nogil:
    """Cards of the chain that ends just before `place` (at least 1), along one kind of links."""
    return 1 + 63 - highest(~((mask << 1) << (64 - place)))


cdef inline int arm_from(uint64_t mask, int place) noexcept nogil:
    """Cards of the chain that starts at `place` (at least 1), along one kind of links."""
    return 1 + lowest(~(mask >> place))


# What a card with some active number finds at a place of a hand.
cdef struct Arms:
    int left_step    # how it stands to the card before, NO_STEP if it does not join
    int left         # cards to the left that it joins
    int right_step
    int right


cdef inline Arms arms_at(const uint8_t* row, int n, const Links* links, int place,
                         int number) noexcept nogil:
    cdef Arms a
    a.left_step = a.right_step = NO_STEP
    a.left = a.right = 0
    if place > 0:
        a.left_step = step_between(row[place - 1] >> 4, number)
        if a.left_step != NO_STEP:
            a.left = arm_before(links_of(links, a.left_step), place)
    if place < n:
        a.right_step = step_between(number, row[place] >> 4)
        if a.right_step != NO_STEP:
            a.right = arm_from(links_of(links, a.right_step), place)
    return a


cdef inline bint joined_beats(int strength, const Arms* a, int number, int x, int y) noexcept nogil:
    """Whether a new card with x neighbours to its left and y to its right beats a set.

    They are known to be in its arms, with both sides of one kind if both are taken.
    """
    cdef int size = x + y + 1, step, low
    if size != strength >> 5:
        return size > strength >> 5
    step = a.left_step if x else a.right_step if y else 0
    if step == 0:
        return (size << 5) + 16 + number > strength
    low = number - x if step == 1 else number - y
    return (size << 5) + low > strength


cdef inline uint64_t joining_places(const uint8_t* row, int n, int number) noexcept nogil:
    """Bit per place 0 .. n: a card with this number joins a neighbour there."""
    cdef uint64_t near = row_near(row, n, number)
    return near | near << 1


# One Scout of a possible Scout & Show.
cdef struct Pickup:
    int end
    int strength     # of what is left of the active set
    uint8_t card


cdef inline Pickup pickup(const State* s, int end) noexcept nogil:
    cdef Pickup p
    p.end = end
    p.card = end_card(s, end)
    p.strength = set_strength(s.active + (1 - end), s.active_size - 1)
    return p


cdef inline int ends_to_scout(const State* s) noexcept nogil:
    return 2 if s.active_size > 1 else s.active_size


cdef inline int number_of(uint8_t card, int turned) noexcept nogil:
    return card & 15 if turned else card >> 4


# How the cards of a hand stand to a number: bit per card.
cdef struct Kin:
    uint64_t below    # one less
    uint64_t same
    uint64_t over     # one more
    uint64_t high     # the card's own bit, should it be above the number that is to be beaten


cdef inline Kin kin_of(const uint8_t* row, int n, int number, int strength) noexcept nogil:
    cdef Kin k
    cdef uint64_t from_it = row_above(row, n, number - 1), past_it = row_above(row, n, number)
    k.below = row_above(row, n, number - 2) & ~from_it if number > 1 else 0
    k.same = from_it & ~past_it
    k.over = past_it & ~row_above(row, n, number + 1)
    k.high = number > (strength & 15)
    return k


cdef inline uint64_t links_with(uint64_t links, int place, uint64_t left,
                                uint64_t right) noexcept nogil:
    """The links of one kind when a card is put in at a place that joins these cards at its
    left and at its right."""
    cdef uint64_t bit = <uint64_t>1 << place
    cdef uint64_t stay = links & (bit - 1) >> 1
    return stay | (links & ~(bit - 1)) << 1 | left & bit >> 1 | right & bit


cdef inline uint32_t* list_scout_shows(const State* s, const Links* links, int end, bint every,
                                       uint32_t* out) noexcept nogil:
    """All Scout & Shows that scout from one end; `every`: with all equal outcomes."""
    cdef int seat = s.turn, n = s.size[seat]
    cdef const uint8_t* row = s.row[seat]
    cdef Pickup p = pickup(s, end)
    cdef uint64_t above = row_above(row, n, p.strength & 15), bit
    cdef int place, turned, k
    cdef Links joined
    cdef Beaters b
    cdef Beaters longer
    cdef Kin kin[2]
    cdef uint64_t starts[4]
    cdef uint32_t base
    for turned in range(2):
        kin[turned] = kin_of(row, n, number_of(p.card, turned), p.strength)
    for place in range(n + 1):
        bit = <uint64_t>1 << place
        for turned in range(2):
            base = (<uint32_t>SCOUT_SHOW << KIND_SHIFT | end << END_SHIFT
                    | place << PLACE_SHIFT | turned << TURNED_SHIFT)
            joined.down = links_with(links.down, place, kin[turned].over, kin[turned].below)
            joined.equal = links_with(links.equal, place, kin[turned].same, kin[turned].same)
            joined.up = links_with(links.up, place, kin[turned].below, kin[turned].over)
            b = beaters_among(above & (bit - 1) | (above & ~(bit - 1)) << 1
                              | kin[turned].high << place, &joined, p.strength)
            longer = b
            starts[0] = b.exact
            for k in range(1, 4):
                starts[k] = longer.equal | longer.up | longer.down
                grow(&longer, &joined)
            if unlikely(longer.equal | longer.up | longer.down):
                out = list_long(&b, &joined, place, every, base, out)
                continue
            if not every:  # the same outcomes as others that are listed
                for k in range(4):
                    starts[k] &= ~(bit >> (b.size + k))
                if place > 0 and b.size == 1:
                    starts[0] &= ~bit
            out = append_blocks(out, starts, n + 1, base + b.size - 1)
    return out


cdef inline uint32_t* list_long(const Beaters* b, const Links* links, int place, bint every,
                                uint32_t base, uint32_t* out) noexcept nogil:
    """What list_scout_shows lists for a place, whatever the length of the blocks."""
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef int k, blocks = list_beaters(b, links, firsts, lasts)
    for k in range(blocks):
        if not every and (lasts[k] + 1 == place or (firsts[k] == lasts[k] == place and place > 0)):
            continue
        out[0] = base | show_move(firsts[k], lasts[k])
        out += 1
    return out


cdef inline bint may_pass(const State* s, int others) noexcept nogil:
    """Whether the seat may pass when it has `others` other moves."""
    return s.players == 2 and s.active_size > 0 and (others == 0 or not s.forced_pass)


cdef inline int list_moves(const State* s, bint every, uint32_t* moves) noexcept nogil:
    """Write the moves (room for MAX_LISTED); `every`: each legal token. Return how many."""
    cdef int seat = s.turn, n = s.size[seat], end, k, blocks
    cdef uint32_t* out = moves
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef Links links
    cdef Beaters b
    cdef uint32_t base
    if s.end != RUNNING:
        return 0
    if s.start != NOBODY:
        moves[0] = plain_move(KEEP)
        moves[1] = plain_move(FLIP)
        return 2
    links = row_links(s.row[seat], n)
    b = beaters(s.row[seat], n, &links, active_strength(s))
    blocks = list_beaters(&b, &links, firsts, lasts)
    for k in range(blocks):
        out[k] = show_move(firsts[k], lasts[k])
    out += blocks
    if may_scout(s):
        for end in range(ends_to_scout(s)):
            base = scout_move(end, 0, 0)
            for k in range(2 * (n + 1)):
                out[k] = base + (k << TURNED_SHIFT)
            out += 2 * (n + 1)
    if may_scout_show(s):
        for end in range(ends_to_scout(s)):
            out = list_scout_shows(s, &links, end, every, out)
    if may_pass(s, <int>(out - moves)):
        out[0] = plain_move(PASS)
        out += 1
    return <int>(out - moves)


cdef inline int count_joined(const uint8_t* row, int n, const Links* links, const Pickup* p,
                             int turned) noexcept nogil:
    """Count the Scout & Shows that show the scouted card."""
    cdef int number = number_of(p.card, turned), found = 0, place, x, y, most
    cdef uint64_t places = joining_places(row, n, number) | 1
    cdef Arms a
    while places:
        place = lowest(places)
        places &= places - 1
        a = arms_at(row, n, links, place, number)
        for x in range(a.left + 1):
            most = a.right if x == 0 or a.left_step == a.right_step else 0
            for y in range(most + 1):
                if x or y or place == 0:
                    found += joined_beats(p.strength, &a, number, x, y)
    return found


cdef inline int count_apart(int n, Beaters b, const Links* links) noexcept nogil:
    """Scout & Shows that leave the scouted card in the hand, for one end and side."""
    cdef int total = popcount(b.exact) * (n - b.size + 1)
    cdef uint64_t starts = b.equal | b.up | b.down
    while starts:
        total += popcount(starts) * (n - b.size)
        grow(&b, links)
        starts = b.equal | b.up | b.down
    return total


cdef inline uint32_t pick_apart(int n, Beaters b, const Links* links, const Pickup* p, int turned,
                                int rank) noexcept nogil:
    """The Scout & Show of that rank among those that count_apart counts."""
    cdef int size = b.size, here = popcount(b.exact), first, place
    cdef uint64_t starts = b.exact
    while rank >= here * (n - size + 1):
        rank -= here * (n - size + 1)
        size += 1
        starts = b.equal | b.up | b.down
        here = popcount(starts)
        b.equal &= links.equal >> (size - 1)
        b.up &= links.up >> (size - 1)
        b.down &= links.down >> (size - 1)
    first = select(starts, rank // (n - size + 1))
    place = rank % (n - size + 1)  # among the gaps of the hand without the block
    if place > first:
        place += size
    else:
        first += 1
    return (<uint32_t>SCOUT_SHOW << KIND_SHIFT | p.end << END_SHIFT | place << PLACE_SHIFT
            | turned << TURNED_SHIFT | show_move(first, first + size - 1))


cdef inline int count_scout_shows(const State* s, const Links* links) noexcept nogil:
    """Count the Scout & Shows, one per outcome."""
    cdef int seat = s.turn, n = s.size[seat], end, total = 0
    cdef const uint8_t* row = s.row[seat]
    cdef Pickup p
    for end in range(ends_to_scout(s)):
        p = pickup(s, end)
        total += 2 * count_apart(n, beaters(row, n, links, p.strength), links)
        total += count_joined(row, n, links, &p, 0) + count_joined(row, n, links, &p, 1)
    return total


cdef inline int count_shows(const State* s) noexcept nogil:
    """How many Shows there are that need no hidden card."""
    cdef Links links = row_links(s.row[s.turn], s.size[s.turn])
    cdef uint64_t known = row_above(s.row[s.turn], s.size[s.turn], 0)
    known &= known >> 1
    links.equal &= known
    links.up &= known
    links.down &= known
    return count_beaters(beaters(s.row[s.turn], s.size[s.turn], &links, active_strength(s)), &links)


cdef inline int count_moves(const State* s) noexcept nogil:
    """How many moves list_moves would write, one per outcome."""
    cdef int seat = s.turn, n = s.size[seat], total
    cdef Links links
    if s.end != RUNNING:
        return 0
    if s.start != NOBODY:
        return 2
    links = row_links(s.row[seat], n)
    total = count_beaters(beaters(s.row[seat], n, &links, active_strength(s)), &links)
    if may_scout(s):
        total += 2 * (n + 1) * ends_to_scout(s)
    if may_scout_show(s):
        total += count_scout_shows(s, &links)
    return total + may_pass(s, total)


cdef inline uint32_t nth_scout(const State* s, int rank) noexcept nogil:
    """The Scout of that rank in canonical order."""
    cdef int one_end = 2 * (s.size[s.turn] + 1)
    cdef int end = rank >= one_end
    return scout_move(end, 0, 0) + (<uint32_t>(rank - end * one_end) << TURNED_SHIFT)


# Scout & Shows from one end, with more or less than there are: those that keep the scouted
# card are counted, those that show it are bounded by places and lengths that could do.
cdef struct Lot:
    Pickup pickup
    Beaters apart
    int apart_count      # for each side of the card
    uint64_t near[2]     # cards that the scouted one could join, by side
    int joined_count[2]  # what is drawn from; not each is a move
    int total


cdef inline int longest_chain(const Links* links) noexcept nogil:
    """Cards of the longest block of a hand, at least 1."""
    cdef uint64_t equal = links.equal, up = links.up, down = links.down
    cdef int longest = 1
    while equal | up | down:
        longest += 1
        equal &= links.equal >> (longest - 1)
        up &= links.up >> (longest - 1)
        down &= links.down >> (longest - 1)
    return longest


cdef inline Lot scout_show_lot(const State* s, const Links* links, int end,
                               int longest) noexcept nogil:
    cdef Lot lot
    cdef int n = s.size[s.turn], turned
    cdef const uint8_t* row = s.row[s.turn]
    cdef uint64_t near
    lot.pickup = pickup(s, end)
    lot.apart = beaters(row, n, links, lot.pickup.strength)
    lot.apart_count = count_apart(n, lot.apart, links)
    for turned in range(2):
        near = row_near(row, n, number_of(lot.pickup.card, turned))
        lot.near[turned] = near
        lot.joined_count[turned] = (1 + popcount(near) * 2 * longest
                                    + popcount(near & (near >> 1)) * longest * longest)
    lot.total = 2 * lot.apart_count + lot.joined_count[0] + lot.joined_count[1]
    return lot


cdef inline uint32_t draw_joined(const State* s, const Links* links, const Lot* lot, int turned,
                                 int longest, int rank) noexcept nogil:
    """What the rank stands for: a Scout & Show that shows the scouted card, or PASS for none.

    First the card alone, then with x cards at its left, with y cards at its right, with both.
    """
    cdef const uint8_t* row = s.row[s.turn]
    cdef int number = number_of(lot.pickup.card, turned), x = 0, y = 0, place = 0, joins
    cdef uint64_t near = lot.near[turned]
    cdef Arms a
    if rank > 0:
        rank -= 1
        joins = popcount(near) * longest
        if rank < joins:
            x = 1 + rank % longest
            place = select(near, rank // longest) + 1
        elif rank < 2 * joins:
            rank -= joins
            y = 1 + rank % longest
            place = select(near, rank // longest)
        else:
            rank -= 2 * joins
            x = 1 + rank % longest
            rank //= longest
            y = 1 + rank % longest
            place = select(near & (near >> 1), rank // longest) + 1
    a = arms_at(row, s.size[s.turn], links, place, number)
    if (x > a.left or y > a.right or (x and y and a.left_step != a.right_step)
            or not joined_beats(lot.pickup.strength, &a, number, x, y)):
        return plain_move(PASS)
    return (<uint32_t>SCOUT_SHOW << KIND_SHIFT | lot.pickup.end << END_SHIFT
            | place << PLACE_SHIFT | turned << TURNED_SHIFT | show_move(place - x, place + y))


cdef inline uint32_t random_move(const State* s, RngState* rng) noexcept nogil:
    """A move drawn uniformly among the outcomes, outside the flip phase.

    Scouts, Shows and most Scout & Shows are counted by their bits; the others are drawn
    from a larger set, and a draw that is no move is drawn again.
    """
    cdef int seat = s.turn, n = s.size[seat], rank, first, cards, end, turned
    cdef int scouts, shows, total, longest = 0, ends = 0
    cdef Links links = row_links(s.row[seat], n)
    cdef Beaters b = beaters(s.row[seat], n, &links, active_strength(s))
    cdef Lot lots[2]
    cdef uint32_t move
    shows = count_beaters(b, &links)
    # no set, no end: whether there is one is hard to foresee, and asked by no branch
    scouts = 2 * (n + 1) * ends_to_scout(s)
    if s.players == 2 and s.chips[seat] == 0:
        scouts = 0
    total = scouts + shows
    total += may_pass(s, total)
    if may_scout_show(s):
        ends = ends_to_scout(s)
        longest = longest_chain(&links)
        for end in range(ends):
            lots[end] = scout_show_lot(s, &links, end, longest)
            total += lots[end].total
    while True:
        rank = <int>rng_below(rng, <uint32_t>total)
        if rank < scouts:
            return nth_scout(s, rank)
        rank -= scouts
        if rank < shows:
            first = pick_beater(b, &links, rank, &cards)
            return show_move(first, first + cards - 1)
        rank -= shows
        if ends == 0:
            return plain_move(PASS)
        end = rank >= lots[0].total
        rank -= end * lots[0].total
        if rank < 2 * lots[end].apart_count:
            turned = rank >= lots[end].apart_count
            return pick_apart(n, lots[end].apart, &links, &lots[end].pickup, turned,
                              rank - turned * lots[end].apart_count)
        rank -= 2 * lots[end].apart_count
        turned = rank >= lots[end].joined_count[0]
        move = draw_joined(s, &links, &lots[end], turned, longest,
                           rank - (lots[end].joined_count[0] if turned else 0))
        if move != plain_move(PASS):
            return move
