"""The seeded generator as Python sees it; the arithmetic is in rng.pxd."""
from libc.stdint cimport uint64_t


cdef class Rng:
    """A reproducible source of random numbers (SplitMix64).

    Args:
        seed: 0 to 2**64 - 1.
    """

    def __init__(self, uint64_t seed):
        self.state = rng_seeded(seed)

    def next64(self) -> int:
        """The next 64 random bits."""
        return rng_next(&self.state)

    def below(self, uint64_t n) -> int:
        """A uniform number in 0 .. n - 1.

        Raises:
            ValueError: n is 0 or above 2**32 - 1.
        """
        if n == 0 or n >> 32:
            raise ValueError(f"expected a bound from 1 to 4294967295: {n}")
        return rng_below(&self.state, <uint32_t>n)

    def split(self, *keys) -> Rng:
        """The generator that belongs to these keys (each 0 to 2**64 - 1).

        A pure function of this generator as it stands and of the keys; this generator
        does not advance.
        """
        cdef Rng child = Rng.__new__(Rng)
        cdef uint64_t key
        child.state = self.state
        for key in keys:
            child.state = rng_split(&child.state, key)
        return child

    def __reduce__(self):
        return _restored, (self.state.counter, self.state.step)

    def __eq__(self, other):
        if not isinstance(other, Rng):
            return NotImplemented
        return (self.state.counter == (<Rng>other).state.counter
                and self.state.step == (<Rng>other).state.step)

    __hash__ = None


def _restored(uint64_t counter, uint64_t step):
    cdef Rng rng = Rng.__new__(Rng)
    rng.state.counter = counter
    rng.state.step = step
    return rng
