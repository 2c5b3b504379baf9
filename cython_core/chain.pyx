"""The weighted belief: a Markov chain over hidden hands and over who the others are.

Metropolis, Rosenbluth, Rosenbluth, Teller and Teller, "Equation of state calculations by
fast computing machines" (1953): a change is proposed, and made with the ratio of the
likelihoods.  The likelihood of a full round is the product over the seats of the chances
that their models give to what they did; a seat's chances depend on its own hand and on what
was public, so a change is judged by the seats whose hands it touches.
"""
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from .belief cimport know
from .cards cimport ROW_BYTES
from .models cimport log_chance, plain_log
from .moves cimport MAX_LISTED
from .rng cimport Rng, rng_below, rng_next, rng_shuffle_head, rng_split, turned_by
from .state cimport (
    FLIP, NOBODY, SCOUT_SHOW, SHOW, Round, canonical_move, end_card, move_end, move_fault,
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

    def __init__(self, Round first, plies, Round now, Network network):
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
                # a card that is known from the start is as if it had been scouted
                card = s.row[seat][place]
                tags[seat][place] = KNOWN + card if card and s.start == NOBODY else 45 * seat + place
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
            see(&seen, &s, code)
            _move_tags(&s, code, tags)
            state_play(&s, code)
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

    cdef double seat_log(self, int seat, int model, const uint8_t* cards, double least,
                         uint32_t* scratch) noexcept nogil:
        """The logarithm of the chance of what a seat did, or something below `least`."""
        cdef double total = 0
        cdef int k, i
        cdef Decision* d
        cdef uint8_t* row
        # the latest first: they tell most of what is still hidden
        for k in range(self.count[seat] - 1, -1, -1):
            d = &self.decisions[seat][k]
            row = d.before.row[seat]
            for i in range(d.hidden):
                row[d.place[i]] = turned_by(cards[d.slot[i]], d.turned)
            total += log_chance(model, self.network.net, &d.before, &d.seen, d.move, scratch)
            if total < least:
                break
        return total


cdef class Chain:
    """A chain over the hidden cards and the models of the other seats of a story.

    Args:
        story: what they did.
        rng: not advanced.
        prior: by seat, the weight of each model before its decisions are seen, 0 to 1; None:
            all alike.

    Raises:
        ValueError: weights of another number of seats or models.
    """

    def __cinit__(self):
        self.scratch = NULL

    def __dealloc__(self):
        free(self.scratch)

    def __init__(self, Story story not None, Rng rng not None, prior=None):
        cdef int seat, model
        cdef const Knowledge* k = &story.knowledge
        self.story = story
        self.rng = rng_split(&rng.state, 0)
        self.steps = self.changes = 0
        self.scratch = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        if self.scratch == NULL:
            raise MemoryError
        if prior is not None and [len(row) for row in prior] != [MODELS] * k.known.players:
            raise ValueError(f"expected {MODELS} weights for each seat")
        for seat in range(k.known.players):
            for model in range(MODELS):
                self.weights[seat][model] = plain_log(
                    min(1.0, max(1e-9, <double>prior[seat][model])) if prior else 1.0)
        memcpy(self.cards, k.unseen, 45)
        rng_shuffle_head(&self.rng, self.cards, k.unseen_count, k.hidden)
        for seat in range(5):
            self.model[seat] = 0
            self.logs[seat] = 0
        for seat in range(k.known.players):
            if seat != story.viewer:
                for model in range(MODELS):
                    if self.weights[seat][model] > self.weights[seat][self.model[seat]]:
                        self.model[seat] = model
                self.logs[seat] = self.weights[seat][self.model[seat]] + story.seat_log(
                    seat, self.model[seat], self.cards, -1e300, self.scratch)

    def walk(self, int steps) -> None:
        """Go so many steps."""
        with nogil:
            for _ in range(steps):
                self.step()

    def draw(self, int count, int apart) -> Worlds:
        """Full rounds, drawn by the weighted belief.

        Args:
            count: how many.
            apart: steps of the chain before each.

        Raises:
            ValueError: none.
        """
        cdef Worlds out = Worlds()
        cdef int k, i, seat
        cdef const Knowledge* knowledge = &self.story.knowledge
        if count < 1:
            raise ValueError(f"expected at least 1 world: {count}")
        out.worlds = <World*>malloc(count * sizeof(World))
        if out.worlds == NULL:
            raise MemoryError
        out.count = count
        out.seen = knowledge.seen
        out.network = self.story.network
        with nogil:
            for k in range(count):
                for _ in range(apart):
                    self.step()
                state_copy(&out.worlds[k].state, &knowledge.known)
                for i in range(knowledge.hidden):
                    (&out.worlds[k].state.row[0][0])[knowledge.places[i]] = self.cards[i]
                for seat in range(5):
                    out.worlds[k].model[seat] = <uint8_t>self.model[seat]
        return out

    cdef void step(self) noexcept nogil:
        """Propose a change and make it, or not."""
        cdef const Knowledge* k = &self.story.knowledge
        cdef uint8_t fresh[45]
        cdef double least
        cdef double changed[2]
        cdef int touched[2]
        cdef int seat, other, i, j, n = 0, what, switched = -1, hidden = k.hidden
        cdef uint64_t coins = rng_next(&self.rng)
        self.steps += 1
        memcpy(fresh, self.cards, 45)
        what = coins & 31
        coins >>= 5
        if hidden == 0 or what < 5:
            # another model for a seat
            seat = <int>rng_below(&self.rng, k.known.players)
            other = <int>rng_below(&self.rng, MODELS)
            if seat != self.story.viewer and other != self.model[seat]:
                switched = other
                touched[0] = seat
                n = 1
        elif what < 9:
            # one card turned over
            i = <int>rng_below(&self.rng, <uint32_t>hidden)
            fresh[i] = turned_by(fresh[i], 1)
            touched[0] = k.places[i] // ROW_BYTES
            n = 1
        elif what < 11:
            # all hidden cards of a hand turned over
            touched[0] = k.places[<int>rng_below(&self.rng, <uint32_t>hidden)] // ROW_BYTES
            n = 1
            for i in range(hidden):
                if k.places[i] // ROW_BYTES == touched[0]:
                    fresh[i] = turned_by(fresh[i], 1)
        else:
            # two cards change places, each with a new side up
            i = <int>rng_below(&self.rng, <uint32_t>hidden)
            j = <int>rng_below(&self.rng, <uint32_t>k.unseen_count)
            if i != j:
                fresh[i] = turned_by(self.cards[j], coins)
                fresh[j] = turned_by(self.cards[i], coins >> 1)
                touched[0] = k.places[i] // ROW_BYTES
                n = 1
                if j < hidden and k.places[j] // ROW_BYTES != touched[0]:
                    touched[1] = k.places[j] // ROW_BYTES
                    n = 2
        if n == 0:
            return
        # the logarithm of the likelihood that the changed seats must reach together
        least = plain_log((1 + (rng_next(&self.rng) >> 11)) * (1.0 / 9007199254740992.0))
        for i in range(n):
            least += self.logs[touched[i]]
        for i in range(n):
            seat = touched[i]
            other = switched if switched >= 0 else self.model[seat]
            changed[i] = self.weights[seat][other] + self.story.seat_log(
                seat, other, fresh, least - self.weights[seat][other], self.scratch)
            least -= changed[i]
            if least > 0:  # what the next seat adds is at most 0
                return
        self.changes += 1
        memcpy(self.cards, fresh, 45)
        for i in range(n):
            self.logs[touched[i]] = changed[i]
        if switched >= 0:
            self.model[touched[0]] = switched
