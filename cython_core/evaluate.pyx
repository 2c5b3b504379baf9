"""The learned evaluation and the player that follows it; see evaluate.pxd."""
from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from .bits cimport lowest, row_flip
from .features cimport MAX_ON, after_inputs, open_eyes
from .moves cimport (
    Arms, Pickup, arms_at, ends_to_scout, joined_beats, joining_places, may_pass, number_of, pickup,
)
from .planner cimport (
    NO_KEY, Gap, Placings, Shape, gap_of, h_gained, h_without, insert_key, key_move, key_value,
    move_key, no_gap, placing_at, rank_placings, reach_of, shape_hand,
)
from .sets cimport Beaters, beaters, list_beaters
from .state cimport (
    END_SHIFT, FLIP, KEEP, KIND_SHIFT, NOBODY, PASS, PLACE_SHIFT, RUNNING, SCOUT, SCOUT_SHOW,
    TURNED_SHIFT, Round, active_strength, end_card, may_scout, may_scout_show, move_kind,
    plain_move, scout_move, show_move, state_copy, state_play, state_points,
)

cdef extern from "network.h" nogil:
    void net_sum "bigtop_net_sum"(const Net* net, int16_t* to, const int16_t* source,
                                  const uint16_t* inputs, int n) noexcept
    int32_t net_output "bigtop_net_output"(const Net* net, const int16_t* sums) noexcept
    const int16_t* net_bias "bigtop_net_bias"(const Net* net) noexcept
    bint net_sound "bigtop_net_sound"(const Net* net) noexcept
    enum:
        NET_BYTES "(int)sizeof(bigtop_net)"


cdef enum:
    IDLE_KEY = 255  # in Placings: no gain at place 0, unturned
    PARTS = 4       # of the candidates, see candidates_of


# Of what the inputs mean (features.pxd) and how the weights lie in memory (network.h).
INPUTS_VERSION = 1


cdef void drop_idle(Placings* ranked) noexcept nogil:
    """Take out the place that gains nothing: the card joins there, so it is ranked as that, too."""
    cdef int k = 0
    while ranked.keys[k] != IDLE_KEY:
        k += 1
    ranked.count -= 1
    while k < ranked.count:
        ranked.keys[k] = ranked.keys[k + 1]
        k += 1


cdef int best_placings(const State* s, const Shape* shape, uint32_t* moves) noexcept nogil:
    """The best Scouts by the planner's value, from both ends."""
    cdef Placings ranked[2]
    cdef int at[2]
    cdef int ends = ends_to_scout(s), end, n = 0
    at[0] = at[1] = 0
    ranked[1].count = 0
    for end in range(ends):
        rank_placings(shape, end_card(s, end), &ranked[end])
        if ranked[end].near[0] & 1:
            drop_idle(&ranked[end])
    while n < CANDIDATE_SCOUTS and (at[0] < ranked[0].count or at[1] < ranked[1].count):
        end = 0
        if at[0] == ranked[0].count or (at[1] < ranked[1].count and
                                        ranked[1].keys[at[1]] >> 8 > ranked[0].keys[at[0]] >> 8):
            end = 1
        moves[n] = scout_move(end, 0, 0) + (
            <uint32_t>placing_at(ranked[end].keys[at[end]]) << TURNED_SHIFT)
        at[end] += 1
        n += 1
    return n


cdef int best_both(const State* s, const Shape* shape, uint32_t* moves) noexcept nogil:
    """The best Scout & Shows by the planner's value, of equals the first in canonical order.

    Far from where the block leaves, a card gains what it gains in the whole hand.
    """
    cdef int64_t keys[CANDIDATE_BOTH]
    cdef int gains[92]  # by twice the place, plus the side
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef int64_t least
    cdef int n = shape.n, found = 0, end, at, place, k, blocks, first, last, low, high, value, gain
    cdef uint32_t base
    cdef Beaters b
    cdef Pickup p
    cdef Gap gap
    for end in range(ends_to_scout(s)):
        p = pickup(s, end)
        gap = no_gap(shape)
        for at in range(2 * (n + 1)):
            gains[at] = h_gained(shape, &gap, at >> 1, number_of(p.card, at & 1))
        b = beaters(shape.row, n, &shape.links, p.strength)
        blocks = list_beaters(&b, &shape.links, firsts, lasts)
        for k in range(blocks):
            first, last = firsts[k], lasts[k]
            gap = gap_of(shape, first, last)
            value = h_without(shape, &gap) + 8 * (s.active_size - (n - last + first))
            low, high = reach_of(shape, first, last)
            base = <uint32_t>SCOUT_SHOW << KIND_SHIFT | end << END_SHIFT | show_move(first, last)
            for at in range(2 * (n + 1)):
                place = at >> 1
                if first < place <= last + 1:
                    continue  # it parts the block, or is where it is at `first`
                gain = gains[at]
                if low <= place <= high:
                    gain = h_gained(shape, &gap, place, number_of(p.card, at & 1))
                least = keys[found - 1] if found == CANDIDATE_BOTH else NO_KEY
                if value + gain >= key_value(least):
                    found = insert_key(keys, found, CANDIDATE_BOTH, move_key(
                        value + gain, base + (at << TURNED_SHIFT)
                        + (show_move(1, 1) if place <= first else 0)))
        found = joined_kept(s, shape, &p, keys, found)
    for k in range(found):
        moves[k] = key_move(keys[k])
    return found


cdef int joined_kept(const State* s, const Shape* shape, const Pickup* p, int64_t* keys,
                     int found) noexcept nogil:
    """Those that show the scouted card, put among the best; return how many these are."""
    cdef int turned, number, place, x, y, most, n = shape.n
    cdef uint64_t places
    cdef uint32_t base
    cdef Arms a
    cdef Gap gap
    for turned in range(2):
        number = number_of(p.card, turned)
        base = (<uint32_t>SCOUT_SHOW << KIND_SHIFT | p.end << END_SHIFT | turned << TURNED_SHIFT)
        places = joining_places(shape.row, n, number) | 1
        while places:
            place = lowest(places)
            places &= places - 1
            a = arms_at(shape.row, n, &shape.links, place, number)
            for x in range(a.left + 1):
                most = a.right if x == 0 or a.left_step == a.right_step else 0
                for y in range(most + 1):
                    if (x or y or place == 0) and joined_beats(p.strength, &a, number, x, y):
                        gap = gap_of(shape, place - x, place + y - 1)
                        found = insert_key(keys, found, CANDIDATE_BOTH, move_key(
                            h_without(shape, &gap) + 8 * (s.active_size - (n - x - y)),
                            base | place << PLACE_SHIFT | show_move(place - x, place + y)))
    return found


cdef int candidates_of(int part, const State* s, const Shape* shape, int listed,
                       uint32_t* moves) noexcept nogil:
    """A part of the candidates: the choices of the flip phase or all Shows, the planner's best
    Scouts, its best Scout & Shows, the pass. `listed` are in the parts before it."""
    cdef uint8_t firsts[MAX_BLOCKS]
    cdef uint8_t lasts[MAX_BLOCKS]
    cdef Beaters b
    cdef int n, k
    if s.start != NOBODY:
        if part == 0:
            moves[0] = plain_move(KEEP)
            moves[1] = plain_move(FLIP)
        return 2 if part == 0 else 0
    if part == 0:
        b = beaters(shape.row, shape.n, &shape.links, active_strength(s))
        n = list_beaters(&b, &shape.links, firsts, lasts)
        for k in range(n):
            moves[k] = show_move(firsts[k], lasts[k])
        return n
    if part == 1:
        return best_placings(s, shape, moves) if may_scout(s) else 0
    if part == 2:
        return best_both(s, shape, moves) if may_scout_show(s) else 0
    if may_pass(s, listed):
        moves[0] = plain_move(PASS)
        return 1
    return 0


cdef int part_of(uint32_t move) noexcept nogil:
    """The part of the candidates in which a move can be."""
    cdef int kind = move_kind(move)
    return 1 if kind == SCOUT else 2 if kind == SCOUT_SHOW else 3 if kind == PASS else 0


cdef int candidates(const State* s, uint32_t* moves) noexcept nogil:
    """The moves worth a look; room for MAX_CANDIDATES; return how many."""
    cdef Shape shape
    cdef int n = 0, part
    shape_hand(&shape, s.row[s.turn], s.size[s.turn])
    for part in range(PARTS):
        n += candidates_of(part, s, &shape, n, moves + n)
    return n


cdef void apply(State* after, const State* s, uint32_t move) noexcept nogil:
    """The position that a move is judged by: after it, but with the flip phase not over when
    the last seat chooses, since nobody knows that."""
    state_copy(after, s)
    if s.start == NOBODY:
        state_play(after, move)
    elif move == plain_move(FLIP):
        row_flip(after.row[s.turn])


cdef inline int64_t present_margin(const State* s, int seat) noexcept nogil:
    """(players - 1) times the margin as the position stands."""
    cdef int other
    cdef int64_t total = 0
    for other in range(s.players):
        total += state_points(s, other)
    return s.players * state_points(s, seat) - total


cdef inline int64_t value_after(const Net* net, const Eyes* eyes, const int16_t* base,
                                const State* s, uint32_t move) noexcept nogil:
    """The value of a move, see Rated."""
    cdef uint16_t inputs[MAX_ON]
    cdef int16_t sums[WIDE]
    cdef int64_t value
    cdef int on
    cdef State after
    apply(&after, s, move)
    value = present_margin(&after, eyes.seat) * POINT
    if after.end == RUNNING:
        on = after_inputs(eyes, &after, inputs)
        net_sum(net, sums, base, inputs, on)
        value += (s.players - 1) * <int64_t>net_output(net, sums)
    return value


cdef int rate_moves(const Net* net, const State* s, const Seen* seen,
                    Rated* rated) noexcept nogil:
    """Value the candidates, in no order; room for MAX_CANDIDATES; return how many."""
    cdef uint32_t moves[MAX_CANDIDATES]
    cdef int16_t base[WIDE]
    cdef int n = candidates(s, moves), k
    cdef Eyes eyes
    open_eyes(&eyes, s, seen, s.turn)
    net_sum(net, base, net_bias(net), eyes.inputs, eyes.count)
    for k in range(n):
        rated[k].move = moves[k]
        rated[k].value = value_after(net, &eyes, base, s, moves[k])
    return n


cdef uint32_t learned_move(const Net* net, const State* s, const Seen* seen) noexcept nogil:
    """The move of the highest value; ties: the first in canonical order."""
    cdef Rated rated[MAX_CANDIDATES]
    cdef int n = rate_moves(net, s, seen, rated), k, best = 0
    for k in range(1, n):
        if (rated[k].value > rated[best].value
                or (rated[k].value == rated[best].value and rated[k].move < rated[best].move)):
            best = k
    return rated[best].move


# exp and log in plain arithmetic, which every machine computes to the same bits

cdef double plain_exp(double x) noexcept nogil:
    """e^x for x <= 0; 0 below -600."""
    cdef double r, e
    cdef int64_t n
    cdef uint64_t bits
    if x < -600:
        return 0
    n = <int64_t>(x * 1.4426950408889634 - 0.5)
    r = x - n * 0.6931471805599453
    e = 1 + r * (1 + r / 2 * (1 + r / 3 * (1 + r / 4 * (1 + r / 5 * (1 + r / 6 * (
        1 + r / 7 * (1 + r / 8 * (1 + r / 9))))))))
    bits = <uint64_t>(1023 + n) << 52
    memcpy(&r, &bits, 8)
    return e * r


cdef double plain_log(double x) noexcept nogil:
    """The natural logarithm of a normal number x > 0."""
    cdef uint64_t bits
    cdef int64_t n
    cdef double z, square
    memcpy(&bits, &x, 8)
    n = <int64_t>(bits >> 52) - 1023
    bits = (bits & <uint64_t>0xFFFFFFFFFFFFF) | <uint64_t>1023 << 52
    memcpy(&x, &bits, 8)
    z = (x - 1) / (x + 1)
    square = z * z
    return n * 0.6931471805599453 + 2 * z * (1 + square * (
        1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square * (
            1.0 / 11 + square * (1.0 / 13 + square / 15)))))))


cdef double learned_chance(const Net* net, const State* s, const Seen* seen, uint32_t move,
                           double temperature, double least) noexcept nogil:
    """The chance of a move by the softmax of the evaluation over the candidates.

    Args:
        move: canonical; another than the candidates has no chance.
        temperature: points.
        least: chances below it are given as 0, which is faster.
    """
    cdef uint32_t moves[MAX_CANDIDATES]
    cdef int16_t base[WIDE]
    cdef Shape shape
    cdef int n = 0, k = 0, part, own_part = part_of(move)
    cdef double unit = 1.0 / ((s.players - 1) * <double>POINT * temperature), total = 1, gap
    cdef int64_t own
    cdef bint there = False
    cdef Eyes eyes
    shape_hand(&shape, s.row[s.turn], s.size[s.turn])
    for part in range(own_part + 1):
        k = n
        n += candidates_of(part, s, &shape, n, moves + n)
    for k in range(k, n):
        there |= moves[k] == move
    if not there:
        return 0
    open_eyes(&eyes, s, seen, s.turn)
    net_sum(net, base, net_bias(net), eyes.inputs, eyes.count)
    own = value_after(net, &eyes, base, s, move)
    k = 0
    while True:
        while k < n:
            if moves[k] != move:
                gap = (value_after(net, &eyes, base, s, moves[k]) - own) * unit
                if gap > 40:
                    return 0
                total += plain_exp(gap) if gap <= 0 else 1 / plain_exp(-gap)
                if total * least > 1:
                    return 0
            k += 1
        # the dearest to list come last, and are not listed when the others are too good
        own_part += 1
        if own_part == PARTS:
            return 1 / total
        n += candidates_of(own_part, s, &shape, n, moves + n)


cdef class Network:
    """Weights of the evaluation for one number of players.

    Args:
        players: 2 to 5.
        weights: what `weights` gave.

    Raises:
        ValueError: not 2 to 5 players, another number of bytes, or numbers so large that sums
            of them could overflow.
    """

    def __cinit__(self):
        self.net = NULL

    def __init__(self, int players, bytes weights):
        if not 2 <= players <= 5:
            raise ValueError(f"expected 2 to 5 players: {players}")
        if len(weights) != NET_BYTES:
            raise ValueError(f"expected {NET_BYTES} bytes of weights: {len(weights)}")
        self.players = players
        self.net = <Net*>malloc(NET_BYTES)
        if self.net == NULL:
            raise MemoryError
        memcpy(self.net, <const uint8_t*>weights, NET_BYTES)
        if not net_sound(self.net):
            raise ValueError("expected weights within the bounds of the network's arithmetic")

    def __dealloc__(self):
        free(self.net)

    cdef int must_fit(self, int players) except -1:
        if players != self.players:
            raise ValueError(f"expected a network for {players} players: it is for {self.players}")
        return 0

    @property
    def weights(self) -> bytes:
        """The weights as bytes: little-endian whole numbers in the order of network.h."""
        return (<uint8_t*>self.net)[:NET_BYTES]

    def output(self, inputs) -> int:
        """The output for inputs that are on, in 1/65536 of a point.

        Args:
            inputs: their numbers, at most 448; one that is there twice counts twice.

        Raises:
            ValueError: too many, or no input has that number.
        """
        cdef uint16_t on[128 + MAX_ON]
        cdef int16_t sums[WIDE]
        cdef int n = len(inputs), k
        if n > 128 + MAX_ON:
            raise ValueError(f"expected at most {128 + MAX_ON} inputs: {n}")
        for k in range(n):
            if not 0 <= inputs[k] < INPUTS:
                raise ValueError(f"expected inputs from 0 to {INPUTS - 1}: {inputs[k]}")
            on[k] = inputs[k]
        net_sum(self.net, sums, net_bias(self.net), on, n)
        return net_output(self.net, sums)

    def __reduce__(self):
        return Network, (self.players, self.weights)


def inputs_after(Round round_ not None, uint32_t move) -> list:
    """The inputs that are on after a move of the acting seat, as that seat sees it.

    Args:
        round_: a round that is not over; the acting hand is known.
        move: the code of a legal move. Choices of the flip phase are looked at as if the
            phase was not over.

    Returns:
        Numbers of inputs, some perhaps twice, in no order; see features.pxd.

    Raises:
        ValueError: the round is over, the acting hand is hidden, or the move is not legal.
    """
    cdef uint16_t inputs[MAX_ON]
    cdef Eyes eyes
    cdef State after
    cdef int n, k
    _ready(round_)
    if round_.refusal(move):
        raise ValueError(round_.refusal(move))
    apply(&after, &round_.state, move)
    open_eyes(&eyes, &round_.state, &round_.seen, round_.state.turn)
    n = after_inputs(&eyes, &after, inputs)
    return [eyes.inputs[k] for k in range(eyes.count)] + [inputs[k] for k in range(n)]


cdef int _ready(Round round_) except -1:
    """Refuse a round in which nobody can be asked for a move."""
    if round_.state.end:
        raise ValueError("the round is over")
    return round_._open_turn()


def rated_moves(Round round_ not None, Network network not None) -> list:
    """The moves that the learned player looks at, with their values.

    Args:
        round_: a round that is not over; the acting hand is known.
        network: for this number of players.

    Returns:
        (move code, expected final margin in points), in no order.

    Raises:
        ValueError: the round is over, the acting hand is hidden, or the network is for
            another number of players.
    """
    cdef Rated* rated
    cdef int n
    cdef double unit
    network.must_fit(round_.state.players)
    _ready(round_)
    unit = 1.0 / ((round_.state.players - 1) * <double>POINT)
    rated = <Rated*>malloc(MAX_CANDIDATES * sizeof(Rated))
    try:
        if rated == NULL:
            raise MemoryError
        n = rate_moves(network.net, &round_.state, &round_.seen, rated)
        return [(rated[k].move, rated[k].value * unit) for k in range(n)]
    finally:
        free(rated)
