"""What a seat knows, as Python sees it; the work is done in belief.pxd."""


cdef class Belief:
    """All that the viewer of a round knows, and samples of what could be.

    Args:
        round_: a round as one seat sees it (`Round.view`): its hidden cards are what is
            not known. Nothing else of the true round is looked at.

    Raises:
        ValueError: fewer cards are unseen than hidden.
    """

    def __init__(self, Round round_ not None):
        know(&self.knowledge, &round_.state, &round_.seen)
        if self.knowledge.hidden > self.knowledge.unseen_count:
            raise ValueError(f"expected an unseen card for each of {self.knowledge.hidden} hidden "
                             f"ones: {self.knowledge.unseen_count}")

    @property
    def hidden(self) -> int:
        """How many cards of all hands are hidden."""
        return self.knowledge.hidden

    @property
    def unseen(self) -> bytes:
        """The cards that lie in hidden places or out of play, low number active, ascending."""
        return self.knowledge.unseen[:self.knowledge.unseen_count]

    def sample(self, Rng rng not None) -> Round:
        """A full round drawn uniformly among those that agree with what is known.

        Args:
            rng: advanced.
        """
        cdef Round full = Round.__new__(Round)
        sample(&self.knowledge, &rng.state, &full.state)
        full.seen = self.knowledge.seen
        return full

    def sample_many(self, Rng rng not None, Py_ssize_t count) -> int:
        """Draw so many rounds and forget them, for measuring; return the last one's checksum."""
        cdef State s
        cdef int seat, total = 0
        with nogil:
            for _ in range(count):
                sample(&self.knowledge, &rng.state, &s)
        for seat in range(self.knowledge.known.players):
            total += s.row[seat][0]
        return total
