"""Self-play and learning for the evaluation; the loop around them is in bigtop.training.

The target of a position after a move is a Q(lambda) return (Watkins 1989; Sutton and Barto,
"Reinforcement Learning", 2nd edition, section 12.10): the final margin, mixed at each later
decision of the same seat with the value of the best move there, and cut where that seat did
not play its best move.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from .cards cimport fill_deck
from .evaluate cimport POINT, MAX_CANDIDATES, Net, Network, Rated, apply, rate_moves
from .features cimport MAX_ON, Eyes, after_inputs, open_eyes
from .moves cimport MAX_LISTED
from .policy cimport (
    PLAY_GREEDY, PLAY_LEARNED, PLAY_PLANNER, PLAY_RANDOM, Policy, policy_move,
)
from .rng cimport Rng, RngState, rng_below, rng_next, rng_split, rng_uniform
from .state cimport RUNNING, Seen, State, see, state_deal, state_play, state_points

cdef extern from "network.h" nogil:
    ctypedef struct Weights "bigtop_weights":
        pass
    enum:
        WEIGHTS "BIGTOP_WEIGHTS"
        NET_BYTES "(int)sizeof(bigtop_net)"
        WIDE "BIGTOP_WIDE"
        NARROW "BIGTOP_NARROW"
        INPUTS "BIGTOP_INPUTS"
    float net_learn "bigtop_learn"(const Weights* w, const uint16_t* inputs, int n, float target,
                                   Weights* gradient) noexcept
    void adam "bigtop_adam"(float* w, float* gradient, float* first, float* second, float* mean,
                            int n, int batch, float rate, float keep_mean, double correct1,
                            double correct2) noexcept
    void quantise "bigtop_quantise"(Net* net, const Weights* w) noexcept

cdef enum:
    UNIT = 8                  # points to one unit of the network's output
    MOST_DECISIONS = 1100     # of a round
    MAX_GUESTS = 16
    HEARD_EVERY = 1024        # samples learned between two looks for an interrupt


# A decision of a learning seat: where its inputs are, and what is needed for its target.
cdef struct Step:
    int seat
    int64_t first             # of its inputs; -1 when the round ended with the move
    int count
    double margin             # as it stood after the move, points
    double best               # value of the best move, points
    bint explored             # another move than the best was played


cdef class Samples:
    """Positions after moves with their targets, from self-play."""
    cdef uint16_t* inputs
    cdef int64_t used, room
    cdef int64_t* first
    cdef float* targets
    cdef int64_t count, most
    cdef readonly int64_t rounds, moves

    def __cinit__(self):
        self.inputs = NULL
        self.first = NULL
        self.targets = NULL

    def __init__(self):
        self.used = self.count = self.rounds = self.moves = 0
        self.room = 1 << 20
        self.most = 1 << 14
        self.inputs = <uint16_t*>malloc(self.room * sizeof(uint16_t))
        self.first = <int64_t*>malloc((self.most + 1) * sizeof(int64_t))
        self.targets = <float*>malloc(self.most * sizeof(float))
        if self.inputs == NULL or self.first == NULL or self.targets == NULL:
            raise MemoryError
        self.first[0] = 0

    def __dealloc__(self):
        free(self.inputs)
        free(self.first)
        free(self.targets)

    def __len__(self):
        return self.count

    cdef bint reserve(self, int64_t inputs, int64_t samples) noexcept nogil:
        """Make room for so many more; False when there is no memory."""
        cdef void* memory
        cdef int64_t more
        if self.used + inputs > self.room:
            more = 2 * (self.used + inputs)
            memory = realloc(self.inputs, more * sizeof(uint16_t))
            if memory == NULL:
                return False
            self.inputs = <uint16_t*>memory
            self.room = more
        if self.count + samples > self.most:
            more = 2 * (self.count + samples)
            memory = realloc(self.first, (more + 1) * sizeof(int64_t))
            if memory == NULL:
                return False
            self.first = <int64_t*>memory
            memory = realloc(self.targets, more * sizeof(float))
            if memory == NULL:
                return False
            self.targets = <float*>memory
            self.most = more
        return True

    def append(self, inputs, double target) -> None:
        """Append a position.

        Args:
            inputs: the numbers of those that are on.
            target: what the margin is to change from it to the end, in points.

        Raises:
            ValueError: no input has that number.
        """
        cdef int64_t n = len(inputs), k
        for k in range(n):
            if not 0 <= inputs[k] < INPUTS:
                raise ValueError(f"expected inputs from 0 to {INPUTS - 1}: {inputs[k]}")
        if not self.reserve(n, 1):
            raise MemoryError
        for k in range(n):
            self.inputs[self.used + k] = inputs[k]
        self.used += n
        self.targets[self.count] = <float>(target / UNIT)
        self.count += 1
        self.first[self.count] = self.used

    def positions(self) -> list:
        """A copy: for each position the inputs that are on, and its target in points."""
        cdef int64_t k, i
        return [([self.inputs[i] for i in range(self.first[k], self.first[k + 1])],
                 self.targets[k] * <double>UNIT) for k in range(self.count)]

    def extend(self, Samples more not None) -> None:
        """Append the samples of another."""
        cdef int64_t k
        if not self.reserve(more.used, more.count):
            raise MemoryError
        memcpy(self.inputs + self.used, more.inputs, more.used * sizeof(uint16_t))
        memcpy(self.targets + self.count, more.targets, more.count * sizeof(float))
        for k in range(1, more.count + 1):
            self.first[self.count + k] = self.used + more.first[k]
        self.used += more.used
        self.count += more.count
        self.rounds += more.rounds
        self.moves += more.moves


# Who sits at the tables beside the learner.
cdef struct Company:
    Policy learner
    Policy guests[16]
    int guests_count
    double alone        # share of rounds in which all seats learn
    double single       # of rounds with one learner and one kind of guest
    double explore      # chance that a learner plays a random candidate
    double trace        # lambda


cdef void seat_players(const Company* c, int players, RngState* rng, bint* learns,
                       Policy* seats) noexcept nogil:
    cdef double kind = rng_uniform(rng)
    cdef int seat, guest, chosen = <int>rng_below(rng, <uint32_t>players)
    guest = <int>rng_below(rng, <uint32_t>c.guests_count)
    for seat in range(players):
        learns[seat] = True
        if kind >= c.alone and seat != chosen:
            if kind < c.alone + c.single:
                learns[seat] = False
            else:
                learns[seat] = rng_next(rng) & 1
                guest = <int>rng_below(rng, <uint32_t>c.guests_count)
        seats[seat] = c.learner if learns[seat] else c.guests[guest]


cdef inline double points_margin(const State* s, int seat) noexcept nogil:
    cdef int other, total = 0
    for other in range(s.players):
        total += state_points(s, other)
    return state_points(s, seat) - <double>(total - state_points(s, seat)) / (s.players - 1)


cdef bint play_one(const Company* c, int players, const uint8_t* deck, int cards, RngState* rng,
                   uint32_t* scratch, Rated* rated, Step* steps, Samples out) noexcept nogil:
    """Play a round and append what it teaches; False when there is no memory."""
    cdef State s, after
    cdef Seen seen
    cdef Policy seats[5]
    cdef bint learns[5]
    cdef double ret[5]
    cdef Eyes eyes
    cdef Step* step
    cdef int n, k, best, pick, decisions = 0, seat
    cdef double unit = (players - 1) * <double>POINT
    cdef int64_t at
    seat_players(c, players, rng, learns, seats)
    state_deal(&s, players, rng, deck, cards)
    memset(&seen, 0, sizeof(Seen))
    while s.end == RUNNING:
        seat = s.turn
        if not learns[seat] or decisions == MOST_DECISIONS:
            rated[0].move = policy_move(&seats[seat], &s, &seen, rng, scratch)
            see(&seen, &s, rated[0].move)
            state_play(&s, rated[0].move)
            continue
        n = rate_moves(c.learner.net, &s, &seen, rated)
        best = 0
        for k in range(1, n):
            if rated[k].value > rated[best].value:
                best = k
        pick = best
        if n > 1 and rng_uniform(rng) < c.explore:
            pick = <int>rng_below(rng, <uint32_t>n)
        step = &steps[decisions]
        decisions += 1
        step.seat = seat
        step.best = rated[best].value / unit
        step.explored = rated[pick].value < rated[best].value
        step.first = -1
        step.count = 0
        apply(&after, &s, rated[pick].move)
        step.margin = points_margin(&after, seat)
        if after.end == RUNNING:
            if not out.reserve(128 + MAX_ON, 1):
                return False
            open_eyes(&eyes, &s, &seen, seat)
            memcpy(out.inputs + out.used, eyes.inputs, eyes.count * sizeof(uint16_t))
            step.count = eyes.count + after_inputs(&eyes, &after,
                                                   out.inputs + out.used + eyes.count)
            step.first = out.used
            out.used += step.count
        see(&seen, &s, rated[pick].move)
        state_play(&s, rated[pick].move)
    if not out.reserve(0, decisions):
        return False
    for seat in range(players):
        ret[seat] = points_margin(&s, seat)
    # backwards for the returns; the samples themselves stay in the order of their inputs
    n = 0
    for k in range(decisions):
        n += steps[k].first >= 0
    at = out.count + n
    out.count = at
    for k in range(decisions - 1, -1, -1):
        step = &steps[k]
        if step.first >= 0:
            at -= 1
            out.targets[at] = <float>((ret[step.seat] - step.margin) / UNIT)
            out.first[at + 1] = step.first + step.count
        if step.explored:
            ret[step.seat] = step.best
        else:
            ret[step.seat] = (1 - c.trace) * step.best + c.trace * ret[step.seat]
    out.rounds += 1
    out.moves += s.made
    return True


def play_samples(Network learner not None, guests, Rng rng not None, Py_ssize_t first,
                 Py_ssize_t last, *, double alone, double single, double explore,
                 double trace) -> Samples:
    """Play rounds and return what they teach; may run on several threads at a time.

    Each round has a random stream of its own, split from `rng` by its number.

    Args:
        learner: the weights that play and that value positions.
        guests: who else sits at the tables: ("random" | "greedy" | "planner" | Network, the
            planner's Scout cost in points), each as often as the others.
        rng: not advanced.
        first: number of the first round.
        last: number behind the last round.
        alone: share of rounds in which all seats learn.
        single: share of rounds with one learner and one kind of guest; in the rest each
            seat but one learns or is a guest, by a coin.
        explore: chance that a learner plays a random candidate instead of its best.
        trace: lambda of the returns.

    Raises:
        ValueError: no guests, too many, or an unknown one.
        MemoryError: no room for the samples.
    """
    cdef Company c
    cdef Samples out = Samples()
    cdef uint8_t deck[45]
    cdef int players = learner.players, cards = fill_deck(players, deck)
    cdef RngState stream
    cdef Py_ssize_t k
    cdef bint ok = True
    cdef uint32_t* scratch
    cdef Rated* rated
    cdef Step* steps
    kinds = {"random": PLAY_RANDOM, "greedy": PLAY_GREEDY, "planner": PLAY_PLANNER}
    if not 1 <= len(guests) <= MAX_GUESTS:
        raise ValueError(f"expected 1 to {MAX_GUESTS} guests: {len(guests)}")
    memset(&c, 0, sizeof(Company))
    c.learner.kind = PLAY_LEARNED
    c.learner.net = learner.net
    c.guests_count = len(guests)
    for k, (kind, cost) in enumerate(guests):
        c.guests[k].scout_cost = cost
        if isinstance(kind, Network):
            c.guests[k].kind = PLAY_LEARNED
            c.guests[k].net = (<Network>kind).net
        elif kind in kinds:
            c.guests[k].kind = kinds[kind]
        else:
            raise ValueError(f"expected random, greedy, planner or a network: {kind!r}")
    c.alone = alone
    c.single = single
    c.explore = explore
    c.trace = trace
    scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
    rated = <Rated*>malloc(MAX_CANDIDATES * sizeof(Rated))
    steps = <Step*>malloc(MOST_DECISIONS * sizeof(Step))
    if scratch == NULL or rated == NULL or steps == NULL:
        ok = False
    else:
        with nogil:
            for k in range(first, last):
                stream = rng_split(&rng.state, <uint64_t>k)
                ok = play_one(&c, players, deck, cards, &stream, scratch, rated, steps, out)
                if not ok:
                    break
    free(scratch)
    free(rated)
    free(steps)
    if not ok:
        raise MemoryError
    return out


cdef class Learner:
    """Weights that learn: in single precision, with the optimiser's state and the running
    mean of the weights, which is what plays.

    Args:
        players: 2 to 5.
        rng: draws the first weights; advanced.
    """
    cdef readonly int players
    cdef readonly int64_t steps
    cdef float* memory[5]   # weights, mean weights, Adam's two moments, gradient

    def __cinit__(self):
        cdef int k
        for k in range(5):
            self.memory[k] = NULL

    def __init__(self, int players, Rng rng not None):
        cdef int k
        cdef float* w
        if not 2 <= players <= 5:
            raise ValueError(f"expected 2 to 5 players: {players}")
        self.players = players
        self.steps = 0
        for k in range(5):
            self.memory[k] = <float*>calloc(WEIGHTS, sizeof(float))
            if self.memory[k] == NULL:
                raise MemoryError
        w = self.memory[0]
        # about 80 inputs are on; then as He et al. (2015), uniform
        for k in range(INPUTS * WIDE):
            w[k] = <float>((2 * rng_uniform(&rng.state) - 1) * 0.1)
        w += INPUTS * WIDE + WIDE
        for k in range(WIDE * NARROW):
            w[k] = <float>((2 * rng_uniform(&rng.state) - 1) * sqrt(6.0 / WIDE))
        w += WIDE * NARROW + NARROW
        for k in range(NARROW):
            w[k] = <float>((2 * rng_uniform(&rng.state) - 1) * sqrt(3.0 / NARROW))
        memcpy(self.memory[1], self.memory[0], WEIGHTS * sizeof(float))

    def __dealloc__(self):
        cdef int k
        for k in range(5):
            free(self.memory[k])

    def network(self) -> Network:
        """The mean weights, in whole numbers."""
        cdef bytearray raw = bytearray(NET_BYTES)
        cdef uint8_t* to = raw
        quantise(<Net*>to, <Weights*>self.memory[1])
        return Network(self.players, bytes(raw))

    def learn(self, Samples samples not None, Rng rng not None, *, int batch, double rate,
              double keep_mean) -> float:
        """One pass over samples in random order.

        Args:
            rng: not advanced.
            batch: samples a step.
            rate: the optimiser's step.
            keep_mean: how much of the mean weights stays at each step.

        Returns:
            mean squared error before each step, in points squared.

        Raises:
            KeyboardInterrupt: one came in the main thread; what was learned by then stays.
        """
        cdef int64_t n = samples.count, k, j
        cdef int filled = 0
        cdef RngState stream = rng.state
        cdef double loss = 0, error
        cdef int64_t* order = <int64_t*>malloc((n + 1) * sizeof(int64_t))
        if order == NULL:
            raise MemoryError
        try:
            with nogil:
                for k in range(n):
                    order[k] = k
                for k in range(n - 1, 0, -1):
                    j = rng_below(&stream, <uint32_t>(k + 1))
                    order[k], order[j] = order[j], order[k]
                for k in range(n):
                    j = order[k]
                    error = net_learn(<Weights*>self.memory[0], samples.inputs + samples.first[j],
                                      <int>(samples.first[j + 1] - samples.first[j]),
                                      samples.targets[j], <Weights*>self.memory[4])
                    error -= samples.targets[j]
                    loss += error * error
                    filled += 1
                    if filled == batch or k == n - 1:
                        self.steps += 1
                        adam(self.memory[0], self.memory[4], self.memory[2], self.memory[3],
                             self.memory[1], WEIGHTS, filled, <float>rate, <float>keep_mean,
                             1 - 0.9 ** self.steps, 1 - 0.999 ** self.steps)
                        filled = 0
                    if k % HEARD_EVERY == 0:
                        with gil:
                            PyErr_CheckSignals()
        finally:
            free(order)
        return loss / n * UNIT * UNIT if n else 0.0

    def dump(self) -> list:
        """All that learning goes on from: steps, then four pieces of memory as bytes."""
        return [self.steps] + [(<uint8_t*>self.memory[k])[:WEIGHTS * sizeof(float)]
                               for k in range(4)]

    def load(self, list dumped) -> None:
        """Go on from what `dump` gave.

        Raises:
            ValueError: it is of another shape.
        """
        cdef int k
        cdef bytes part
        if len(dumped) != 5 or any(len(part) != WEIGHTS * sizeof(float) for part in dumped[1:]):
            raise ValueError("expected the state of a learner of this shape")
        self.steps = dumped[0]
        for k in range(4):
            part = dumped[k + 1]
            memcpy(self.memory[k], <const uint8_t*>part, WEIGHTS * sizeof(float))
