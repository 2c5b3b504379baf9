"""A round as Python sees it; the rules are in state.pxd, sets.pxd and moves.pxd."""
from typing import NamedTuple

from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

from .bits cimport popcount
from .cards cimport DECK_MAX
from .moves cimport MAX_LISTED, count_moves, count_shows, list_moves, may_pass, random_move

# the C names of the same numbers are in state.pxd
globals().update(
    SHOW=SHOW, SCOUT=SCOUT, SCOUT_SHOW=SCOUT_SHOW, PASS=PASS, KEEP=KEEP, FLIP=FLIP,
    MOVE_LIMIT=MAX_MOVES_MADE,
)

cdef tuple END_NAMES = ("", "i", "ii", "cut")


class MoveParts(NamedTuple):
    """A move code taken apart; places count from 0, fields that a kind lacks are 0."""

    kind: int
    end: int
    place: int
    turned: int
    first: int
    last: int


def move_code(int kind, int end=0, int place=0, int turned=0, int first=0, int last=0) -> int:
    """The code of a move; ascending codes are the canonical order.

    Args:
        kind: SHOW, SCOUT, SCOUT_SHOW, PASS, KEEP or FLIP.
        end: 0 for the left end of the active set, 1 for the right.
        place: where the scouted card comes to lie in the hand, from 0.
        turned: 1 when the scouted card is turned over.
        first: first place of the shown block, from 0, after the insertion.
        last: its last place.

    Raises:
        ValueError: a part is out of range.
    """
    if not (0 <= kind <= FLIP and 0 <= end <= 1 and 0 <= place <= PLACE_MASK
            and 0 <= turned <= 1 and 0 <= first <= PLACE_MASK and 0 <= last <= PLACE_MASK):
        raise ValueError("expected kind 0 to 5, end and turned 0 or 1, places 0 to 63: "
                         f"{(kind, end, place, turned, first, last)}")
    return (kind << KIND_SHIFT | end << END_SHIFT | place << PLACE_SHIFT
            | turned << TURNED_SHIFT | show_move(first, last))


def move_parts(uint32_t code) -> MoveParts:
    """The parts of a move code."""
    return MoveParts(move_kind(code), move_end(code), move_place(code), move_turned(code),
                     move_first(code), move_last(code))


def _check_players(int players):
    if not 2 <= players <= MAX_PLAYERS:
        raise ValueError(f"expected 2 to 5 players: {players}")


def deck(int players) -> bytes:
    """Every card of the deck for so many players, low number active, ascending.

    Raises:
        ValueError: not 2 to 5 players.
    """
    cdef uint8_t cards[45]
    _check_players(players)
    cdef int n = fill_deck(players, cards)
    return cards[:n]


def hand_size(int players) -> int:
    """Cards dealt to each seat.

    Raises:
        ValueError: not 2 to 5 players.
    """
    _check_players(players)
    return cards_in_hand(players)


def cards_in_play(int players) -> int:
    """Cards dealt in a round: with two players half of the deck is set aside.

    Raises:
        ValueError: not 2 to 5 players.
    """
    _check_players(players)
    return players * cards_in_hand(players)


def strength(bytes cards) -> int:
    """The strength of a set: the stronger beats the weaker, equal strengths do not.

    Args:
        cards: one byte a card, from left to right.

    Returns:
        32 * cards + 16 unless a run + lowest number; 0 when the cards are not a block.
    """
    cdef uint8_t row[16]
    _load_row(row, 16, cards, "set", 10)
    return block_strength(row, len(cards))


cdef int _load_row(uint8_t* row, int room, bytes cards, str what, int most) except -1:
    """Copy a row of cards into zeroed memory after the checks that keep memory safe."""
    cdef int i, card
    if len(cards) > most:
        raise ValueError(f"expected at most {most} cards in the {what}: {len(cards)}")
    memset(row, 0, room)
    for i in range(len(cards)):
        card = cards[i]
        if card and not (1 <= card >> 4 <= 10 and 1 <= (card & 15) <= 10
                         and card >> 4 != card & 15):
            raise ValueError(f"expected cards with two different numbers from 1 to 10 in the "
                             f"{what}: {card:#04x}")
        row[i] = <uint8_t>card
    return 0


cdef uint32_t unused_parts(int kind) noexcept nogil:
    """The bits of a code that a kind of move leaves 0."""
    cdef uint32_t shown = PLACE_MASK << FIRST_SHIFT | PLACE_MASK << LAST_SHIFT
    cdef uint32_t all_parts = (1 << KIND_SHIFT) - 1
    if kind == SHOW:
        return all_parts & ~shown
    if kind == SCOUT:
        return shown
    return 0 if kind == SCOUT_SHOW else all_parts


cdef int move_fault(const State* s, uint32_t move) noexcept nogil:
    cdef int kind = move_kind(move)
    cdef State after
    if s.end != RUNNING:
        return ROUND_OVER
    if kind > FLIP or move & unused_parts(kind):
        return NO_SUCH_MOVE
    if (kind == KEEP or kind == FLIP) != (s.start != NOBODY):
        return NO_FLIP_NOW if s.start == NOBODY else FLIP_FIRST
    if kind == KEEP or kind == FLIP:
        return LEGAL
    if kind == SHOW:
        return show_fault(s, move_first(move), move_last(move))
    if kind == PASS:
        if s.players != 2:
            return PASS_MANY
        if s.active_size == 0:
            return PASS_NO_SET
        return LEGAL if may_pass(s, may_scout(s) + count_shows(s)) else PASS_FORCED
    if s.active_size == 0:
        return NO_SET
    if kind == SCOUT_SHOW and s.players == 2:
        return TWO_PLAYERS
    if kind == SCOUT_SHOW and not (s.tokens >> s.turn) & 1:
        return NO_TOKEN
    if s.players == 2 and s.chips[s.turn] == 0:
        return NO_CHIP
    if move_place(move) > s.size[s.turn]:
        return NO_SUCH_PLACE
    if kind == SCOUT:
        return LEGAL
    state_copy(&after, s)
    do_scout(&after, move_end(move), move_place(move), move_turned(move))
    return show_fault(&after, move_first(move), move_last(move))


cdef uint32_t canonical_move(const State* s, uint32_t move) noexcept nogil:
    """The first token in canonical order with the outcome of a legal move."""
    cdef int place, first, last
    if move_kind(move) != SCOUT and move_kind(move) != SCOUT_SHOW:
        return move
    if s.active_size == 1:
        move &= ~(<uint32_t>1 << END_SHIFT)
    if move_kind(move) == SCOUT:
        return move
    place, first, last = move_place(move), move_first(move), move_last(move)
    if first == place == last:
        place = first = last = 0
    elif last == place - 1:  # the block leaves at the card's left: as good as its right
        place, first, last = first, first + 1, last + 1
    return (move & ~(<uint32_t>PLACE_MASK << PLACE_SHIFT | PLACE_MASK << FIRST_SHIFT | PLACE_MASK)
            | place << PLACE_SHIFT | show_move(first, last))


cdef class Round:
    """A round in play: hands, active set, points, and what was seen of it by all.

    Cards are bytes, the active number in the high half; 0 is a hidden card.

    Args:
        hands: the row of each seat, 2 to 5 of them.
        active: the active set from left to right.
        owner: its owner, -1 when there is none.
        turn: the seat that acts; in the flip phase the one that has still to choose.
        start: the seat that will move first, in the flip phase; else -1.
        tokens: bit mask by seat of the Scout & Show tokens still held.
        captured: cards captured by each seat.
        chips: scout chips of each seat.
        forced_pass: two players: pass is legal only when nothing else is.
        out: cards known to be captured, in any order and orientation.

    Raises:
        ValueError: sizes or numbers that no round can have. Whether the position makes
            sense is not asked here.
    """

    def __init__(self, hands, *, bytes active=b"", int owner=-1, int turn=0, int start=-1,
                 int tokens=0, captured=None, chips=None, bint forced_pass=False,
                 bytes out=b""):
        cdef State* s = &self.state
        cdef int seat, players = len(hands)
        cdef uint8_t row[64]
        _check_players(players)
        memset(s, 0, sizeof(State))
        memset(&self.seen, 0, sizeof(Seen))
        s.players = <uint8_t>players
        if not (-1 <= owner < players and 0 <= turn < players and -1 <= start < players
                and 0 <= tokens < 1 << players):
            raise ValueError(f"expected owner, turn, start and tokens of {players} seats: "
                             f"{(owner, turn, start, tokens)}")
        _load_row(s.active, ACTIVE_BYTES, active, "active set", 10)
        s.active_size = <uint8_t>len(active)
        if active and not block_strength(s.active, s.active_size):
            raise ValueError(f"expected a set of known cards as the active set: {active.hex(' ')}")
        if (owner < 0) != (not active) or owner == turn:
            raise ValueError("expected an owner of the active set who is not to move: "
                             f"{(owner, turn)}")
        for seat in range(players):
            _load_row(s.row[seat], ROW_BYTES, hands[seat], f"hand of seat {seat}", DECK_MAX)
            s.size[seat] = <uint8_t>len(hands[seat])
        if sum(map(len, hands)) + len(active) > DECK_MAX:
            raise ValueError(f"expected at most {DECK_MAX} cards in hands and active set")
        for name, values in (("captured", captured), ("chips", chips)):
            if values is not None and (len(values) != players
                                       or not all(0 <= n <= 999 for n in values)):
                raise ValueError(f"expected {players} numbers 0 to 999 of {name}: {values}")
        for seat in range(players):
            s.captured[seat] = captured[seat] if captured is not None else 0
            s.chips[seat] = chips[seat] if chips is not None else 0
        s.owner = <uint8_t>(owner if owner >= 0 else NOBODY)
        s.turn = <uint8_t>turn
        s.start = <uint8_t>(start if start >= 0 else NOBODY)
        s.tokens = <uint8_t>tokens
        s.forced_pass = forced_pass
        if start < 0 and not all(hands):
            s.end = HAND_EMPTY
        _load_row(row, ROW_BYTES, out, "captured cards", DECK_MAX)
        self.seen.out = row_set(row, len(out))

    @property
    def players(self) -> int:
        """Number of seats, 2 to 5."""
        return self.state.players

    @property
    def turn(self) -> int:
        """The seat that acts now."""
        return self.state.turn

    @property
    def start(self) -> int:
        """In the flip phase the seat that will move first, else -1."""
        return -1 if self.state.start == NOBODY else self.state.start

    @property
    def owner(self) -> int:
        """The owner of the active set, -1 when there is none."""
        return -1 if self.state.owner == NOBODY else self.state.owner

    @property
    def tokens(self) -> int:
        """Bit mask by seat of the Scout & Show tokens still held."""
        return self.state.tokens

    @property
    def forced_pass(self) -> bool:
        """Two players: whether pass is legal only when nothing else is."""
        return bool(self.state.forced_pass)

    @property
    def captured(self) -> tuple:
        """Cards captured by each seat."""
        return tuple([self.state.captured[seat] for seat in range(self.state.players)])

    @property
    def chips(self) -> tuple:
        """Scout chips of each seat."""
        return tuple([self.state.chips[seat] for seat in range(self.state.players)])

    @property
    def active(self) -> bytes:
        """The active set from left to right."""
        return self.state.active[:self.state.active_size]

    @property
    def out(self) -> bytes:
        """The cards known to be captured, low number active, ascending."""
        cdef uint8_t cards[45]
        cdef int n = fill_deck(5, cards)
        return bytes([cards[i] for i in range(n) if (self.seen.out >> card_id(cards[i])) & 1])

    @property
    def made(self) -> int:
        """Moves made since the round was set up; the choices to keep or flip are none."""
        return self.state.made

    @property
    def end(self) -> str:
        """"" while the round runs, else "i", "ii" or "cut"."""
        return END_NAMES[self.state.end]

    cdef int _seat(self, int seat) except -1:
        if not 0 <= seat < self.state.players:
            raise ValueError(f"expected a seat from 0 to {self.state.players - 1}: {seat}")
        return seat

    def hand(self, int seat) -> bytes:
        """The row of a seat.

        Raises:
            ValueError: no such seat.
        """
        self._seat(seat)
        return self.state.row[seat][:self.state.size[seat]]

    def hidden(self, int seat) -> int:
        """How many cards of a hand are hidden.

        Raises:
            ValueError: no such seat.
        """
        return self.hand(seat).count(0)

    cdef int _open_turn(self) except -1:
        """The acting seat, whose hand must be known."""
        cdef int hidden = 0 if self.state.end else self.hidden(self.state.turn)
        if hidden:
            raise ValueError(f"expected a known hand of seat {self.state.turn}, which is to act: "
                             f"{hidden} of its cards are hidden")
        return self.state.turn

    cdef list _listed(self, bint every):
        cdef uint32_t* moves = <uint32_t*>malloc(MAX_LISTED * sizeof(uint32_t))
        cdef int n
        if moves == NULL:
            raise MemoryError
        try:
            self._open_turn()
            n = list_moves(&self.state, every, moves)
            return [moves[k] for k in range(n)]
        finally:
            free(moves)

    def moves(self) -> list:
        """The legal moves as codes, one per outcome, in canonical order.

        Raises:
            ValueError: the acting hand has hidden cards.
        """
        return self._listed(False)

    def all_moves(self) -> list:
        """Every legal token as a code, in canonical order.

        R on a one-card active set is not counted as another token.

        Raises:
            ValueError: the acting hand has hidden cards.
        """
        return self._listed(True)

    def count(self) -> int:
        """The number of moves, one per outcome, without listing them.

        Raises:
            ValueError: the acting hand has hidden cards.
        """
        self._open_turn()
        return count_moves(&self.state)

    def refusal(self, uint32_t code) -> str:
        """"" for a legal move, else why it is not, in plain words, places from 1."""
        cdef State* s = &self.state
        cdef int fault = move_fault(s, code), turn = s.turn
        cdef int size = s.size[turn] + (move_kind(code) == SCOUT_SHOW)
        cdef int first = move_first(code) + 1, last = move_last(code) + 1
        if fault == LEGAL:
            return ""
        block = f"place {first}" if first == last else f"places {first} to {last}"
        if fault == NO_SUCH_CARD:
            if last < first:
                return f"a block runs from left to right, not from {first} to {last}"
            return f"no card at place {last} (seat {turn} has {size} cards)"
        if fault == NOT_A_BLOCK:
            return f"the cards at {block} are neither equal nor a run"
        if fault == NOT_BEATEN:
            return f"the cards at {block} do not beat the active set"
        if fault == UNKNOWN_CARDS:
            return f"the cards at {block} are hidden: name them (as in S3-5:45.56.67)"
        if fault == NO_SUCH_PLACE:
            return (f"no place {move_place(code) + 1} to put a card "
                    f"(seat {turn} has places 1 to {s.size[turn] + 1})")
        return {
            ROUND_OVER: "the round is over",
            NO_SUCH_MOVE: "there is no such move",
            FLIP_FIRST: f"seat {turn} has still to choose keep or flip",
            NO_FLIP_NOW: "keep and flip belong to the flip phase, which is over",
            NO_SET: "there is no active set to scout from",
            NO_CHIP: f"seat {turn} has no scout chip left",
            NO_TOKEN: f"seat {turn} has no Scout & Show token",
            TWO_PLAYERS: "two players have no Scout & Show",
            PASS_MANY: f"{s.players} players cannot pass",
            PASS_NO_SET: "there is no active set: the player must show",
            PASS_FORCED: "pass is only allowed when neither Show nor Scout is possible",
        }[fault]

    def canonical(self, uint32_t code) -> int:
        """The first move in canonical order with the outcome of this legal move."""
        return canonical_move(&self.state, code)

    def play(self, uint32_t code) -> None:
        """Play a move in place.

        Cards that a Show lays out must be known: see `reveal`.

        Raises:
            ValueError: the move is not legal; the message is that of `refusal`.
        """
        cdef State* s = &self.state
        if move_fault(s, code) != LEGAL:
            raise ValueError(self.refusal(code))
        see(&self.seen, s, code)
        state_play(s, code)

    def reveal(self, int seat, int first, bytes cards) -> None:
        """Put known cards on hidden places of a hand.

        Args:
            seat: whose hand.
            first: the place of the first card, from 0.
            cards: the cards from there on, as they lie.

        Raises:
            ValueError: no such places, or a place is known to hold another card.
        """
        cdef uint8_t row[64]
        cdef int i, n = len(cards)
        self._seat(seat)
        _load_row(row, ROW_BYTES, cards, "cards to reveal", DECK_MAX)
        if not 0 <= first <= self.state.size[seat] - n:  # first + n might be more than an int
            raise ValueError(f"no card at place {<long long>first + (n if first >= 0 else 1)} "
                             f"(seat {seat} has {self.state.size[seat]} cards)")
        for i in range(n):
            if self.state.row[seat][first + i] not in (0, row[i]):
                raise ValueError(f"another card is known to lie at place {first + i + 1} of seat "
                                 f"{seat}")
        for i in range(n):
            self.state.row[seat][first + i] = row[i]

    def points(self) -> tuple:
        """The points of each seat; an unfinished round counts as cut: everybody pays."""
        return tuple([state_points(&self.state, seat) for seat in range(self.state.players)])

    def view(self, int seat) -> Round:
        """The round as a seat knows it: of the others' hands only cards scouted in it.

        Raises:
            ValueError: no such seat, or its own hand has hidden cards.
        """
        cdef int other, i
        if self.hidden(self._seat(seat)):
            raise ValueError(f"expected a known hand of seat {seat}: "
                             f"{self.hidden(seat)} of its cards are hidden")
        cdef Round seen = self.copy()
        for other in range(self.state.players):
            if other != seat:
                for i in range(self.state.size[other]):
                    if not (self.seen.scouted[other] >> i) & 1:
                        seen.state.row[other][i] = 0
        return seen

    def scouted(self, int seat) -> int:
        """Bit mask of the places of a hand whose cards were scouted since the round was set up.

        Raises:
            ValueError: no such seat.
        """
        return self.seen.scouted[self._seat(seat)]

    def copy(self) -> Round:
        """An independent copy."""
        cdef Round other = Round.__new__(Round)
        other.state = self.state
        other.seen = self.seen
        return other

    def random_move(self, Rng rng not None) -> int:
        """A move drawn uniformly, one per outcome.

        Raises:
            ValueError: the round is over, or the acting hand has hidden cards.
        """
        if self.state.end:
            raise ValueError("the round is over")
        self._open_turn()
        if self.state.start != NOBODY:
            return plain_move(FLIP if rng_next(&rng.state) & 1 else KEEP)
        return random_move(&self.state, &rng.state)

    cdef int _open_all(self) except -1:
        cdef int seat
        for seat in range(self.state.players):
            if self.hidden(seat):
                raise ValueError(f"expected known hands: {self.hidden(seat)} cards of seat {seat} "
                                 "are hidden")
        if self.state.start != NOBODY:
            raise ValueError("expected a position after the flip phase")
        return 0

    cdef int _perft_check(self, int depth) except -1:
        self._open_all()
        if not 0 <= depth <= MAX_MOVES_MADE:
            raise ValueError(f"expected a depth from 0 to {MAX_MOVES_MADE}: {depth}")
        return 0

    def perft(self, int depth) -> int:
        """The number of paths of `depth` moves, one per outcome; a path that ends the round
        earlier counts once.

        Raises:
            ValueError: hidden cards, the flip phase, or a depth not from 0 to 1000.
        """
        self._perft_check(depth)
        return _counted(&self.state, depth)

    def divide(self, int depth) -> list:
        """The count of `perft` for each move: a list of (move code, paths).

        Raises:
            ValueError: hidden cards, the flip phase, or a depth not from 1 to 1000.
        """
        cdef State after
        cdef uint32_t code
        self._perft_check(depth)
        if depth == 0:
            raise ValueError("expected a depth from 1 to 1000: 0")
        counts = []
        for code in self.moves():
            after = self.state
            state_play(&after, code)
            counts.append((code, _counted(&after, depth - 1)))
        return counts

    def __eq__(self, other):
        if not isinstance(other, Round):
            return NotImplemented
        cdef Round o = other
        return (memcmp(&self.state, &o.state, state_bytes(&self.state)) == 0
                and memcmp(&self.seen, &o.seen, sizeof(Seen)) == 0)

    __hash__ = None

    def __reduce__(self):
        return _restored, ((<uint8_t*>&self.state)[:sizeof(State)],
                           (<uint8_t*>&self.seen)[:sizeof(Seen)])

    def __repr__(self):
        hands = ", ".join(repr(self.hand(seat)) for seat in range(self.state.players))
        return (f"Round([{hands}], active={self.active!r}, owner={self.owner}, turn={self.turn}, "
                f"start={self.start}, tokens={self.tokens}, captured={self.captured}, "
                f"chips={self.chips}, forced_pass={self.forced_pass}, out={self.out!r})")


def _restored(bytes memory, bytes seen):
    cdef Round round_ = Round.__new__(Round)
    if len(memory) != sizeof(State) or len(seen) != sizeof(Seen):
        raise ValueError("expected the memory of a round of this version")
    memcpy(&round_.state, <const uint8_t*>memory, sizeof(State))
    memcpy(&round_.seen, <const uint8_t*>seen, sizeof(Seen))
    return round_


cdef _counted(const State* s, int depth):
    """Paths of so many moves, counted with the lists of all levels in one piece of memory."""
    cdef uint32_t* lists
    cdef uint64_t total
    if depth == 0 or s.end != RUNNING:
        return 1
    lists = <uint32_t*>malloc(<size_t>depth * MAX_LISTED * sizeof(uint32_t))
    if lists == NULL:
        raise MemoryError
    with nogil:
        total = count_paths(s, depth, lists)
    free(lists)
    return total


cdef uint64_t count_paths(const State* s, int depth, uint32_t* lists) noexcept nogil:
    cdef uint64_t total = 0
    cdef State after
    cdef int k, n
    if s.end != RUNNING:
        return 1
    if depth == 1:
        return count_moves(s)
    n = list_moves(s, False, lists)
    for k in range(n):
        state_copy(&after, s)
        state_play(&after, lists[k])
        total += count_paths(&after, depth - 1, lists + MAX_LISTED)
    return total


def deal(int players, Rng rng not None, bytes cards=None) -> Round:
    """A fresh deal, in the flip phase: seat 0 is the first to choose.

    The holder of 1/2 will start; with two players, when nobody holds it, seat 0.

    Args:
        players: 2 to 5.
        rng: advanced by the deal.
        cards: deal from these (any orientation) instead of the whole deck: two players'
            second round is dealt from the 22 cards that the first left aside.

    Raises:
        ValueError: not 2 to 5 players, or too few cards.
    """
    cdef uint8_t row[64]
    cdef Round round_ = Round.__new__(Round)
    cdef int n
    _check_players(players)
    if cards is None:
        n = fill_deck(players, row)
    else:
        n = len(cards)
        _load_row(row, ROW_BYTES, cards, "cards to deal", DECK_MAX)
        if n < players * cards_in_hand(players) or popcount(row_set(row, n)) != n:
            raise ValueError(f"expected at least {players * cards_in_hand(players)} different "
                             f"cards to deal: {n}")
    state_deal(&round_.state, players, &rng.state, row, n)
    return round_
