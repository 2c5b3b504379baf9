"""The weighted belief: hidden hands, and who the others are, by how well they explain what
the others did.

The likelihood of a full round is the product over the seats of the chances that their models
give to what they did; a seat's chances depend on its own hand and on what was public.  So
many rounds are filled seat by seat, each hand chosen among several and the rounds drawn again
by their weights (sequential Monte Carlo: Del Moral, Doucet and Jasra 2006), and then each
walks on by itself, a change made with the ratio of the likelihoods of the seats whose hands
it touches (Metropolis, Rosenbluth, Rosenbluth, Teller and Teller 1953).
"""
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from .belief cimport know
from .cards cimport ROW_BYTES
from .evaluate cimport plain_exp, plain_log
from .models cimport MODEL_LEARNED, log_chance
from .moves cimport MAX_LISTED
from .rng cimport Rng, rng_below, rng_next, rng_shuffle_head, rng_split, rng_uniform, turned_by
from .state cimport (
    FLIP, SCOUT_SHOW, SHOW, Round, canonical_move, end_card, move_end, move_fault,
    move_first, move_kind, move_last, move_place, move_turned, plain_move, scouts_card, see,
    state_copy, state_play,
)


cdef class Worlds:
    """Full rounds that agree with what a seat knows, with the models of the other seats."""

    def __cinit__(self):
        self.worlds = NULL

    def __dealloc__(self):
        free(self.worlds)

    def round(self, int k) -> Round:
        """The round number k.

        Raises:
            IndexError: there is none.
        """
        cdef Round full = Round.__new__(Round)
        if not 0 <= k < self.count:
            raise IndexError(f"expected 0 to {self.count - 1}: {k}")
        full.state = self.worlds[k].state
        full.seen = self.seen
        return full

    def models(self) -> list:
        """By seat: how often each model was there, as shares."""
        cdef int k, seat
        shares = [[0.0] * MODELS for _ in range(5)]
        for k in range(self.count):
            for seat in range(5):
                shares[seat][self.worlds[k].model[seat]] += 1.0 / self.count
        return shares


# What stands in a place of a hand while the history is gone through: a number below
# KNOWN is a card that was dealt, KNOWN + card one that was scouted.
cdef enum:
    KNOWN = 1000
    TRIES = 64
    FAR = 12        # e^-12 is far less likely

# Of the planner, greedy, random and learned models, and of those like a planner.
PRIOR = (0.25, 0.15, 0.1, 0.3, 0.2)


cdef int drawn_model(const double* chances, RngState* rng) noexcept nogil:
    """A model by the chances of each."""
    cdef double coin = rng_uniform(rng)
    cdef int model = 0, last = MODELS - 1
    while chances[last] <= 0 and last > 0:
        last -= 1
    while model < last and coin >= chances[model]:
        coin -= chances[model]
        model += 1
    return model


cdef int _uncover(State* s, uint32_t code, bytes shown, int (*tags)[64], uint8_t* cards) except -1:
    """Put the cards that a Show laid out where they were hidden."""
    cdef int kind = move_kind(code), place, i, at, seat = s.turn
    if kind != SHOW and kind != SCOUT_SHOW:
        return 0
    for i in range(len(shown)):
        place = move_first(code) + i
        if kind == SCOUT_SHOW:
            if place == move_place(code):
                continue
            place -= place > move_place(code)
        if place >= s.size[seat]:
            raise ValueError("expected legal moves")
        at = tags[seat][place]
        if at < KNOWN:
            cards[at] = shown[i]
            s.row[seat][place] = shown[i]
    return 0


cdef int _move_tags(const State* s, uint32_t code, int (*tags)[64]) except -1:
    """Move what stands in the places of the acting hand, as the move is about to do."""
    cdef int kind = move_kind(code), seat = s.turn
    hand = [tags[seat][place] for place in range(s.size[seat])]
    if scouts_card(kind):
        hand.insert(move_place(code),
                    KNOWN + turned_by(end_card(s, move_end(code)), move_turned(code)))
    if kind == SHOW or kind == SCOUT_SHOW:
        del hand[move_first(code):move_last(code) + 1]
    for place, what in enumerate(hand):
        tags[seat][place] = what
    return 0


cdef class Story:
    """What the other seats did, with what is known and hidden of the hands that they held.

    Args:
        first: the round where the history begins, as the viewer sees it.
        plies: (seat, move code, cards shown) of each move since.
        now: the round after them, as the viewer sees it: the acting hand is the viewer's.
        network: for the learned model.

    Raises:
        ValueError: the moves do not lead from `first` to `now`, the viewer's hand is hidden,
            or fewer cards are unseen than hidden.
    """

    def __cinit__(self):
        cdef int seat
        for seat in range(5):
            self.decisions[seat] = NULL
            self.count[seat] = 0

    def __dealloc__(self):
        cdef int seat
        for seat in range(5):
            free(self.decisions[seat])

    def __init__(self, Round first not None, plies, Round now not None, Network network not None):
        cdef State s = first.state
        cdef Seen seen = first.seen
        cdef int tags[5][64]
        cdef uint8_t cards[256]    # of those that were dealt, once they are seen
        cdef int slots[256]
        cdef int seat, place, k, n, tag, players = s.players
        cdef uint32_t code
        cdef Decision* d
        cdef uint8_t card
        self.network = network
        self.viewer = now._open_turn()
        know(&self.knowledge, &now.state, &now.seen)
        if self.knowledge.hidden > self.knowledge.unseen_count:
            raise ValueError(f"expected an unseen card for each of {self.knowledge.hidden} hidden "
                             f"ones: {self.knowledge.unseen_count}")
        if network.players != players:
            raise ValueError(f"expected a network for {players} players")
        for k in range(256):
            cards[k] = 0
            slots[k] = -1
        for seat in range(players):
            self.decisions[seat] = <Decision*>calloc(MAX_DECISIONS, sizeof(Decision))
            if self.decisions[seat] == NULL:
                raise MemoryError
            for place in range(s.size[seat]):
                tags[seat][place] = 45 * seat + place
                cards[tags[seat][place]] = s.row[seat][place]
        rows = []
        for who, code, shown in plies:
            seat = who
            if s.turn != seat or s.end:
                raise ValueError("expected moves that follow from the first position")
            n = s.size[seat]
            d = NULL
            if seat != self.viewer:
                if self.count[seat] == MAX_DECISIONS:
                    for k in range(MAX_DECISIONS - 1):
                        self.decisions[seat][k] = self.decisions[seat][k + 1]
                    rows = [(a, b - (a == seat), c) for a, b, c in rows if a != seat or b > 0]
                    self.count[seat] -= 1
                d = &self.decisions[seat][self.count[seat]]
                d.seen = seen
                d.turned = code == plain_move(FLIP)
                rows.append((seat, self.count[seat], [tags[seat][place] for place in range(n)]))
                self.count[seat] += 1
            _uncover(&s, code, shown, tags, cards)
            if move_fault(&s, code) != 0:
                raise ValueError("expected legal moves")
            if d != NULL:
                d.before = s
                d.move = canonical_move(&s, code)
            if code == plain_move(FLIP):
                for place in range(n):
                    tag = tags[seat][place]
                    cards[tag] = turned_by(cards[tag], 1)
            see(&seen, &s, code)
            _move_tags(&s, code, tags)
            state_play(&s, code)
        for seat in range(6):
            self.first_slot[seat] = self.knowledge.hidden
        for k in range(self.knowledge.hidden - 1, -1, -1):
            for seat in range(self.knowledge.places[k] // ROW_BYTES + 1):
                self.first_slot[seat] = k
        for k in range(self.knowledge.hidden):
            seat = self.knowledge.places[k] // ROW_BYTES
            place = self.knowledge.places[k] % ROW_BYTES
            tag = tags[seat][place] if place < s.size[seat] else KNOWN
            if tag >= KNOWN:
                raise ValueError("expected moves that lead to the last position")
            slots[tag] = k
        for who, k, hand in rows:
            d = &self.decisions[<int>who][k]
            for place, what in enumerate(hand):
                tag = what
                if tag >= KNOWN:
                    card = <uint8_t>(tag - KNOWN)
                else:
                    card = turned_by(cards[tag], d.turned)
                    if not card:
                        if slots[tag] < 0:
                            raise ValueError("expected moves that lead to the last position")
                        d.place[d.hidden] = place
                        d.slot[d.hidden] = slots[tag]
                        d.hidden += 1
                d.before.row[<int>who][place] = card

    @property
    def decisions_made(self) -> list:
        """By seat: how many decisions of it are weighed."""
        return [self.count[seat] for seat in range(self.knowledge.known.players)]

    def log_chance(self, Round full not None, models) -> float:
        """The logarithm of the chance of all that the other seats did, in a full round.

        Args:
            full: agrees with what the viewer knows.
            models: by seat, the number of its model: 0 planner, 1 greedy, 2 random, 3 learned,
                4 like a planner.

        Raises:
            ValueError: a round of another shape, or no such model.
        """
        cdef uint8_t cards[45]
        cdef int k, seat, players = self.knowledge.known.players
        cdef uint32_t* scratch
        cdef double total = 0
        if (full.state.players != players or len(models) != players
                or not all([0 <= model < MODELS for model in models])
                or any([full.state.size[seat] != self.knowledge.known.size[seat]
                        for seat in range(players)])):
            raise ValueError("expected a full round of what is known, and a model for each seat")
        memcpy(cards, self.knowledge.unseen, 45)
        for k in range(self.knowledge.hidden):
            cards[k] = (&full.state.row[0][0])[self.knowledge.places[k]]
        scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        if scratch == NULL:
            raise MemoryError
        for seat in range(players):
            total += self.seat_log(seat, models[seat], cards, -1e300, scratch)
        free(scratch)
        return total

    cdef double seat_log(self, int seat, int model, const uint8_t* cards, double least,
                         uint32_t* scratch) noexcept nogil:
        """The logarithm of the chance of what a seat did, or something below `least`."""
        cdef double total = 0
        cdef int k, i
        cdef const Decision* d
        cdef State before  # a copy: several threads may draw at a time
        cdef uint8_t* row = before.row[seat]
        # the latest first: they tell most of what is still hidden
        for k in range(self.count[seat] - 1, -1, -1):
            d = &self.decisions[seat][k]
            state_copy(&before, &d.before)
            for i in range(d.hidden):
                row[d.place[i]] = turned_by(cards[d.slot[i]], d.turned)
            total += log_chance(model, self.network.net, &before, &d.seen, d.move, least - total,
                                scratch)
            if total < least:
                break
        return total

    cdef double fill_seat(self, int seat, Particle* p, int tries, const double* chances,
                          const double* weights, double heat, RngState* rng,
                          uint32_t* scratch) noexcept nogil:
        """Deal a seat its hidden cards, and a model: of several tries one, by how well they
        explain what it did, to the power `heat`. Return the logarithm of the mean of these."""
        cdef Particle best[TRIES]
        cdef double logs[TRIES]
        cdef double most = -1e300, total = 0, coin, least
        cdef int k, model, first = self.first_slot[seat]
        cdef int hidden = self.first_slot[seat + 1] - first
        for k in range(tries):
            memcpy(best[k].cards, p.cards, 45)
            rng_shuffle_head(rng, best[k].cards + first, self.knowledge.unseen_count - first,
                             hidden)
            model = drawn_model(chances, rng)
            best[k].model[seat] = <uint8_t>model
            # what is far less likely than another counts for nothing, so it may be cut off
            least = most - FAR / heat - weights[model]
            logs[k] = weights[model] + self.seat_log(seat, model, best[k].cards, least, scratch)
            most = logs[k] if logs[k] > most else most
        for k in range(tries):
            total += plain_exp(heat * (logs[k] - most))
        coin = rng_uniform(rng) * total
        k = 0
        while k < tries - 1:
            coin -= plain_exp(heat * (logs[k] - most))
            if coin < 0:
                break
            k += 1
        memcpy(p.cards, best[k].cards, 45)
        p.model[seat] = best[k].model[seat]
        p.logs[seat] = logs[k]
        return heat * most + plain_log(total / tries)

    cdef bint step(self, Particle* p, double (*chances)[MODELS], double (*weights)[MODELS],
                   double heat, RngState* rng, uint32_t* scratch) noexcept nogil:
        """Propose a change and make it, or not, by the likelihood to the power `heat`; say
        whether."""
        cdef const Knowledge* k = &self.knowledge
        cdef uint8_t fresh[45]
        cdef double least, ahead = 0
        cdef double changed[2]
        cdef int touched[2]
        cdef int seat, other, i, j, n = 0, what, switched = -1, hidden = k.hidden
        cdef uint64_t coins = rng_next(rng)
        memcpy(fresh, p.cards, 45)
        what = coins & 31
        coins >>= 5
        if hidden == 0 or what < 3:
            # another model for a seat
            seat = <int>rng_below(rng, k.known.players)
            other = drawn_model(chances[seat], rng)
            if seat != self.viewer and other != p.model[seat]:
                switched = other
                touched[0] = seat
                n = 1
        elif what < 8:
            # one card turned over
            i = <int>rng_below(rng, <uint32_t>hidden)
            fresh[i] = turned_by(fresh[i], 1)
            touched[0] = k.places[i] // ROW_BYTES
            n = 1
        elif what < 10:
            # all hidden cards of a hand turned over
            touched[0] = k.places[<int>rng_below(rng, <uint32_t>hidden)] // ROW_BYTES
            n = 1
            for i in range(hidden):
                if k.places[i] // ROW_BYTES == touched[0]:
                    fresh[i] = turned_by(fresh[i], 1)
        else:
            # two cards change places, each with a new side up
            i = <int>rng_below(rng, <uint32_t>hidden)
            j = <int>rng_below(rng, <uint32_t>k.unseen_count)
            if i != j:
                fresh[i] = turned_by(p.cards[j], coins)
                fresh[j] = turned_by(p.cards[i], coins >> 1)
                touched[0] = k.places[i] // ROW_BYTES
                n = 1
                if j < hidden and k.places[j] // ROW_BYTES != touched[0]:
                    touched[1] = k.places[j] // ROW_BYTES
                    n = 2
        if n == 0:
            return False
        # the logarithm of the likelihood that the changed seats must reach together
        least = plain_log((1 + (rng_next(rng) >> 11)) * (1.0 / 9007199254740992.0)) / heat
        for i in range(n):
            least += p.logs[touched[i]]
        if n == 2:  # the most that the second seat can add
            ahead = weights[touched[1]][p.model[touched[1]]]
        for i in range(n):
            seat = touched[i]
            other = switched if switched >= 0 else p.model[seat]
            changed[i] = weights[seat][other] + self.seat_log(
                seat, other, fresh, least - ahead - weights[seat][other], scratch)
            least -= changed[i]
            if least > ahead:
                return False
            ahead = 0
        memcpy(p.cards, fresh, 45)
        for i in range(n):
            p.logs[touched[i]] = changed[i]
        if switched >= 0:
            p.model[touched[0]] = <uint8_t>switched
        return True

    def draw(self, Rng rng not None, int count, int tries, heats, int steps, prior=None,
             proposed=None) -> Worlds:
        """Full rounds, drawn by the weighted belief.

        Args:
            rng: not advanced.
            count: how many.
            tries: hands dealt to each seat of each round, of which one is kept; 1 to 64.
            heats: powers of the likelihood that the rounds go through, ascending, 1 to 16 of
                them, the last 1.
            steps: of the walk, for each round and each power.
            prior: by seat, the chance of each model before its decisions are seen, together 1;
                None: PRIOR. The viewer's own does not matter.
            proposed: by seat, how often each model is tried, above 0 for each that has a chance;
                None: as before the decisions. What is near that which the decisions tell saves
                work, and changes nothing else in the long run.

        Raises:
            ValueError: a number out of range, or weights of another number of seats or models.
        """
        cdef Worlds out = Worlds()
        cdef double chances[5][MODELS]
        cdef double weights[5][MODELS]
        cdef int seat, model, k, i, players = self.knowledge.known.players
        cdef RngState stream = rng_split(&rng.state, 0)
        cdef Particle* particles
        cdef Particle* spare
        cdef double* logs
        cdef uint32_t* scratch
        cdef double heat[16]
        cdef list powers = [float(power) for power in heats]
        cdef int level, levels = len(powers)
        cdef double weight
        if (levels < 1 or levels > 16 or powers != sorted(powers) or powers[0] <= 0.0
                or powers[levels - 1] != 1.0):
            raise ValueError(f"expected 1 to 16 ascending powers, above 0, the last 1: {heats}")
        for level in range(levels):
            heat[level] = powers[level]
        if count < 1 or not 1 <= tries <= TRIES:
            raise ValueError(f"expected at least 1 round and 1 to {TRIES} tries: {count}, {tries}")
        if prior is None:
            prior = [PRIOR] * players
        if proposed is None:
            proposed = prior
        if [len(row) for rows in (prior, proposed) for row in rows] != [MODELS] * (2 * players):
            raise ValueError(f"expected {MODELS} weights for each seat")
        for seat in range(players):
            if seat == self.viewer:
                continue
            if not (min(prior[seat]) >= 0 and 0.999 < sum(prior[seat]) < 1.001):
                raise ValueError(f"expected chances of the models of seat {seat}, together 1: "
                                 f"{prior[seat]}")
            tried = sum([chance for chance, before in zip(proposed[seat], prior[seat], strict=True)
                         if before > 0])
            for model in range(MODELS):
                weights[seat][model] = chances[seat][model] = 0
                weight = prior[seat][model]
                if weight > 0:
                    if not proposed[seat][model] > 0:
                        raise ValueError("expected every model that has weight to be tried")
                    chances[seat][model] = proposed[seat][model] / tried
                    weights[seat][model] = plain_log(weight / chances[seat][model])
        out.worlds = <World*>malloc(count * sizeof(World))
        particles = <Particle*>malloc(count * sizeof(Particle))
        spare = <Particle*>malloc(count * sizeof(Particle))
        logs = <double*>malloc(count * sizeof(double))
        scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        if (out.worlds == NULL or particles == NULL or spare == NULL or logs == NULL
                or scratch == NULL):
            free(particles)
            free(spare)
            free(logs)
            free(scratch)
            raise MemoryError
        out.count = count
        out.seen = self.knowledge.seen
        out.learned = False
        with nogil:
            for k in range(count):
                memcpy(particles[k].cards, self.knowledge.unseen, 45)
                for seat in range(5):
                    particles[k].model[seat] = 0
                    particles[k].logs[seat] = 0
            for seat in range(players):
                if seat == self.viewer:
                    continue
                for k in range(count):
                    logs[k] = self.fill_seat(seat, &particles[k], tries if self.count[seat] else 1,
                                             chances[seat], weights[seat], heat[0], &stream,
                                             scratch)
                resample(particles, spare, logs, count, &stream)
                particles, spare = spare, particles
            for level in range(levels):
                for k in range(count):
                    logs[k] = 0
                    if level:
                        for seat in range(players):
                            logs[k] += particles[k].logs[seat]
                        logs[k] *= heat[level] - heat[level - 1]
                if level:
                    resample(particles, spare, logs, count, &stream)
                    particles, spare = spare, particles
                for k in range(count):
                    for _ in range(steps):
                        self.step(&particles[k], chances, weights, heat[level], &stream,
                                  scratch)
            for k in range(count):
                state_copy(&out.worlds[k].state, &self.knowledge.known)
                for i in range(self.knowledge.hidden):
                    (&out.worlds[k].state.row[0][0])[self.knowledge.places[i]] = \
                        particles[k].cards[i]
                memcpy(out.worlds[k].model, particles[k].model, 5)
                for seat in range(players):
                    out.learned |= particles[k].model[seat] == MODEL_LEARNED
        free(particles)
        free(spare)
        free(logs)
        free(scratch)
        return out


cdef void resample(const Particle* particles, Particle* to, const double* logs, int n,
                   RngState* rng) noexcept nogil:
    """Draw n particles by their weights (systematically: Kitagawa 1996)."""
    cdef double most = logs[0], total = 0, reached = 0, at
    cdef int k, taken = 0
    for k in range(1, n):
        most = logs[k] if logs[k] > most else most
    for k in range(n):
        total += plain_exp(logs[k] - most)
    at = rng_uniform(rng)
    for k in range(n):
        reached += plain_exp(logs[k] - most) / total * n
        while taken < n and (taken + at < reached or k == n - 1):
            to[taken] = particles[k]
            taken += 1
