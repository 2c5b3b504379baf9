# cython: language_level=3
"""The few machine-level operations that Cython has no words for (see bits.h)."""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "bits.h" nogil:
    void ensure "bigtop_ensure"(bint condition) noexcept
    bint likely "bigtop_likely"(bint condition) noexcept
    bint unlikely "bigtop_unlikely"(bint condition) noexcept
    int popcount "bigtop_popcount"(uint64_t x) noexcept
    int lowest "bigtop_lowest"(uint64_t x) noexcept
    int highest "bigtop_highest"(uint64_t x) noexcept
    int select "bigtop_select"(uint64_t x, int rank) noexcept
    uint64_t mul "bigtop_mul"(uint64_t a, uint64_t b, uint64_t* low) noexcept

    ctypedef struct Links "bigtop_links":
        uint64_t down
        uint64_t equal
        uint64_t up

    uint64_t links_of "bigtop_links_of"(const Links* links, int step) noexcept
    Links row_links "bigtop_row_links"(const uint8_t* row, int n) noexcept
    uint64_t row_above "bigtop_row_above"(const uint8_t* row, int n, int number) noexcept
    uint64_t row_near "bigtop_row_near"(const uint8_t* row, int n, int number) noexcept
    uint32_t* append_blocks "bigtop_append_blocks"(uint32_t* out, const uint64_t* starts, int n,
                                                   uint32_t base) noexcept
    void pair_inputs "bigtop_pair_inputs"(const uint8_t* row, int n, int apart, int base,
                                          uint16_t* out) noexcept
    void prefetch "bigtop_prefetch"(const void* address) noexcept
    void large_pages "bigtop_large_pages"(void* memory, size_t bytes) noexcept
    void row_flip "bigtop_row_flip"(uint8_t* row) noexcept
    void row_close "bigtop_row_close"(uint8_t* row, int n, int place, int gap) noexcept
    void set_drop "bigtop_set_drop"(uint8_t* set, int n, int end) noexcept
    void row_open "bigtop_row_open"(uint8_t* row, int n, int place) noexcept
