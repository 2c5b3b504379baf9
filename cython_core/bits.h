/* What Cython cannot say: bit counting, 64x64-bit products, and the comparison of a
   whole row of cards with itself shifted by one place.

   Every function has a portable body; wider ones are used where the compiler was told
   that the machine has them (see setup.py: the compiled modules are built once for each
   level of the x86-64 instruction set, and bigtop.core picks one at import).  All bodies
   of a function return the same bits. */
#ifndef BIGTOP_BITS_H
#define BIGTOP_BITS_H

#include <stdint.h>
#include <string.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#ifdef BIGTOP_CHECKED
#include <assert.h>
#define bigtop_ensure(condition) assert(condition)
#else
#define bigtop_ensure(condition) ((void)0)
#endif

#define bigtop_likely(x) __builtin_expect(!!(x), 1)
#define bigtop_unlikely(x) __builtin_expect(!!(x), 0)

#if defined(__AVX512BW__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

static inline int bigtop_popcount(uint64_t x)
{
#if defined(__POPCNT__) || !defined(__x86_64__)
    return __builtin_popcountll(x);
#else
    /* without the instruction: sideways sums, faster than the library's table */
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)((x * 0x0101010101010101u) >> 56);
#endif
}

/* Index of the lowest set bit; x must not be 0. */
static inline int bigtop_lowest(uint64_t x) { return __builtin_ctzll(x); }

/* Index of the highest set bit; x must not be 0. */
static inline int bigtop_highest(uint64_t x) { return 63 - __builtin_clzll(x); }

/* Index of the set bit with `rank` set bits below it; there must be one. */
static inline int bigtop_select(uint64_t x, int rank)
{
#if defined(__BMI2__)
    return __builtin_ctzll(_pdep_u64((uint64_t)1 << rank, x));
#else
    while (rank--)
        x &= x - 1;
    return __builtin_ctzll(x);
#endif
}

/* High half of a*b; the low half goes to *low. */
static inline uint64_t bigtop_mul(uint64_t a, uint64_t b, uint64_t *low)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

/* Neighbour bitboards of a row: bit i tells how card i+1 stands to card i. */
typedef struct {
    uint64_t down;  /* one less */
    uint64_t equal; /* the same active number */
    uint64_t up;    /* one more */
} bigtop_links;

/* The links of one kind: step -1, 0 or 1. */
static inline uint64_t bigtop_links_of(const bigtop_links *links, int step)
{
    return (&links->down)[step + 1];
}

/* The cards of the row lie in its first n bytes, the active number in the high half of
   each; 64 bytes are readable, n <= 45. */
static inline bigtop_links bigtop_row_links(const uint8_t *row, int n)
{
    bigtop_links links;
    uint64_t valid = n > 1 ? ((uint64_t)1 << (n - 1)) - 1 : 0;
#if defined(__AVX512BW__)
    {
        __m512i nibble = _mm512_set1_epi8(15), one = _mm512_set1_epi8(1);
        __m512i x = _mm512_loadu_si512((const void *)row);
        __m512i here = _mm512_and_si512(_mm512_srli_epi16(x, 4), nibble);
        /* the next card into each place: dwords rotated over lanes, then bytes */
        __m512i next = _mm512_alignr_epi8(
            _mm512_maskz_alignr_epi64(0x3f, here, here, 2), here, 1);
        __m512i step = _mm512_sub_epi8(next, here);
        links.equal = _mm512_testn_epi8_mask(step, step) & valid;
        links.up = _mm512_cmpeq_epi8_mask(step, one) & valid;
        links.down = _mm512_cmpeq_epi8_mask(step, _mm512_set1_epi8(-1)) & valid;
    }
#elif defined(__AVX2__)
    {
        __m256i nibble = _mm256_set1_epi8(15), one = _mm256_set1_epi8(1);
        __m256i down = _mm256_set1_epi8(-1), zero = _mm256_setzero_si256();
        int base = 0;
        links.equal = links.up = links.down = 0;
        do {
            __m256i x = _mm256_loadu_si256((const __m256i *)(row + base));
            __m256i y = _mm256_loadu_si256((const __m256i *)(row + base + 1));
            __m256i here = _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble);
            __m256i next = _mm256_and_si256(_mm256_srli_epi16(y, 4), nibble);
            __m256i step = _mm256_sub_epi8(next, here);
#define BIGTOP_MASK(v) ((uint64_t)(uint32_t)_mm256_movemask_epi8(v) << base)
            links.equal |= BIGTOP_MASK(_mm256_cmpeq_epi8(step, zero));
            links.up |= BIGTOP_MASK(_mm256_cmpeq_epi8(step, one));
            links.down |= BIGTOP_MASK(_mm256_cmpeq_epi8(step, down));
#undef BIGTOP_MASK
            base += 31; /* so that the second load ends with the 63rd byte */
        } while (bigtop_unlikely(n > base + 1));
        links.equal &= valid;
        links.up &= valid;
        links.down &= valid;
    }
#elif defined(__SSE2__)
    {
        __m128i nibble = _mm_set1_epi8(15), one = _mm_set1_epi8(1);
        __m128i down = _mm_set1_epi8(-1), zero = _mm_setzero_si128();
        int base = 0;
        links.equal = links.up = links.down = 0;
        do {
            __m128i x = _mm_loadu_si128((const __m128i *)(row + base));
            __m128i y = _mm_loadu_si128((const __m128i *)(row + base + 1));
            __m128i here = _mm_and_si128(_mm_srli_epi16(x, 4), nibble);
            __m128i next = _mm_and_si128(_mm_srli_epi16(y, 4), nibble);
            __m128i step = _mm_sub_epi8(next, here);
            links.equal |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(step, zero)) << base;
            links.up |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(step, one)) << base;
            links.down |= (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(step, down)) << base;
            base += 16;
        } while (bigtop_unlikely(n > base + 1));
        links.equal &= valid;
        links.up &= valid;
        links.down &= valid;
    }
#else
    {
        int i;
        links.equal = links.up = links.down = 0;
        for (i = 0; i + 1 < n; i++) {
            int step = (row[i + 1] >> 4) - (row[i] >> 4);
            links.equal |= (uint64_t)(step == 0) << i;
            links.up |= (uint64_t)(step == 1) << i;
            links.down |= (uint64_t)(step == -1) << i;
        }
        (void)valid;
    }
#endif
    return links;
}

/* Bit i: the active number of card i is above `number`. */
static inline uint64_t bigtop_row_above(const uint8_t *row, int n, int number)
{
    uint64_t valid = ((uint64_t)1 << n) - 1, mask = 0;
#if defined(__AVX512BW__)
    /* the byte is above 16*number+15 exactly when its high half is above number */
    mask = _mm512_cmpgt_epu8_mask(_mm512_loadu_si512((const void *)row),
                                  _mm512_set1_epi8((char)(number * 16 + 15)));
#elif defined(__SSE2__)
    __m128i limit = _mm_set1_epi8((char)(number * 16 + 15));
    int base = 0;
    do {
        __m128i x = _mm_loadu_si128((const __m128i *)(row + base));
        /* saturated subtraction leaves 0 exactly where x <= limit */
        __m128i below = _mm_cmpeq_epi8(_mm_subs_epu8(x, limit), _mm_setzero_si128());
        mask |= (uint64_t)(uint16_t)~_mm_movemask_epi8(below) << base;
        base += 16;
    } while (bigtop_unlikely(n > base));
#else
    int i;
    for (i = 0; i < n; i++)
        mask |= (uint64_t)((row[i] >> 4) > number) << i;
#endif
    return mask & valid;
}

/* Bit i: the active number of card i is at most one away from `number`. */
static inline uint64_t bigtop_row_near(const uint8_t *row, int n, int number)
{
    uint64_t low = number > 1 ? bigtop_row_above(row, n, number - 2)
                              : ((uint64_t)1 << n) - 1;
    return low & ~bigtop_row_above(row, n, number + 1);
}

/* The 16 lowest bits of x, each four places apart. */
static inline uint64_t bigtop_spread(uint64_t x)
{
#if defined(__BMI2__)
    return _pdep_u64(x, 0x1111111111111111u);
#else
    x &= 0xffff;
    x = (x | x << 24) & 0x000000ff000000ffu;
    x = (x | x << 12) & 0x000f000f000f000fu;
    x = (x | x << 6) & 0x0303030303030303u;
    return (x | x << 3) & 0x1111111111111111u;
#endif
}

/* Append the blocks of a hand of n cards, by first, then last place.

   Bit i of starts[j] marks a block from place i to place i + j; its entry is
   base + (i << 6 | i + j).  Return where the list ends now; up to 15 entries behind it may
   be overwritten. */
static inline uint32_t *bigtop_append_blocks(uint32_t *out, const uint64_t *starts, int n,
                                             uint32_t base)
{
    int done;
    for (done = 0; done < n; done += 16) {
        uint64_t mask = bigtop_spread(starts[0] >> done) | bigtop_spread(starts[1] >> done) << 1
                        | bigtop_spread(starts[2] >> done) << 2
                        | bigtop_spread(starts[3] >> done) << 3;
        uint32_t here = base + (uint32_t)done * 65;
#if defined(__AVX512F__)
        int left = n - done < 16 ? n - done : 16;
        __m512i x = _mm512_add_epi32(
            _mm512_setr_epi32(0, 1, 2, 3, 65, 66, 67, 68, 130, 131, 132, 133, 195, 196, 197, 198),
            _mm512_set1_epi32((int)here));
        for (; left > 0; left -= 4) {
            _mm512_storeu_si512((void *)out, _mm512_maskz_compress_epi32((__mmask16)mask, x));
            out += bigtop_popcount(mask & 0xffff);
            mask >>= 16;
            x = _mm512_add_epi32(x, _mm512_set1_epi32(4 * 65));
        }
#elif defined(__AVX2__) && defined(__BMI2__)
        int left = n - done < 16 ? n - done : 16;
        __m256i x = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 65, 66, 67, 68),
                                     _mm256_set1_epi32((int)here));
        for (; left > 0; left -= 2) {
            /* the numbers of the set bits, packed, as a permutation */
            uint64_t bytes = _pdep_u64(mask & 0xff, 0x0101010101010101u) * 0xff;
            __m256i kept = _mm256_cvtepu8_epi32(
                _mm_cvtsi64_si128((long long)_pext_u64(0x0706050403020100u, bytes)));
            _mm256_storeu_si256((__m256i *)out, _mm256_permutevar8x32_epi32(x, kept));
            out += bigtop_popcount(mask & 0xff);
            mask >>= 8;
            x = _mm256_add_epi32(x, _mm256_set1_epi32(2 * 65));
        }
#else
        while (mask) {
            int k = bigtop_lowest(mask);
            *out++ = here + (uint32_t)(k >> 2) * 65 + (uint32_t)(k & 3);
            mask &= mask - 1;
        }
#endif
    }
    return out;
}

/* Swap the two numbers of every card of a row of 64 bytes (empty places stay empty). */
static inline void bigtop_row_flip(uint8_t *row)
{
    uint64_t words[8];
    int i;
    memcpy(words, row, 64);
    for (i = 0; i < 8; i++)
        words[i] = ((words[i] & 0x0f0f0f0f0f0f0f0fu) << 4) | ((words[i] >> 4) & 0x0f0f0f0f0f0f0f0fu);
    memcpy(row, words, 64);
}

/* Close a gap of `gap` bytes at `place`: the bytes behind it move down.  The row holds n
   cards, zeros behind them, 64 bytes in all. */
static inline void bigtop_row_close(uint8_t *row, int n, int place, int gap)
{
    if (bigtop_likely(n <= 32)) {
        uint8_t tail[32];
        memcpy(tail, row + place + gap, 32);
        memcpy(row + place, tail, 32);
    } else {
        memmove(row + place, row + place + gap, (size_t)(n - place - gap));
        memset(row + n - gap, 0, (size_t)gap);
    }
}

/* Take the first (end 0) or the last (end 1) byte from the n of a set: 16 bytes, zeros behind.

   Which end is a coin's throw that no branch can foresee, and whole words are what the next
   reader waits least for. */
static inline void bigtop_set_drop(uint8_t *set, int n, int end)
{
    uint64_t low, high, keep;
    int shift = 8 * (1 - end), left = 8 * (n - 1);
    memcpy(&low, set, 8);
    memcpy(&high, set + 8, 8);
    low = low >> shift | high << 1 << (63 - shift);
    high >>= shift;
    keep = ((uint64_t)1 << (left & 63)) - 1;
    low &= left < 64 ? keep : ~(uint64_t)0;
    high &= left < 64 ? 0 : keep;
    memcpy(set, &low, 8);
    memcpy(set + 8, &high, 8);
}

/* Open a gap of one byte at `place`; n < 45 cards before. */
static inline void bigtop_row_open(uint8_t *row, int n, int place)
{
    if (bigtop_likely(n < 32)) {
        uint8_t tail[32];
        memcpy(tail, row + place, 32);
        memcpy(row + place + 1, tail, 32);
    } else {
        memmove(row + place + 1, row + place, (size_t)(n - place));
    }
}

/* For each of the first n cards of a row: base, and 0 to 54 for the unordered pair of its active
   number and that of the card so many places on.  Up to 15 more are written. */
static inline void bigtop_pair_inputs(const uint8_t *row, int n, int apart, int base,
                                      uint16_t *out)
{
    int i, k;
    for (i = 0; i < n; i += 16)
        for (k = i; k < i + 16; k++) {
            uint16_t a = row[k] >> 4, b = row[k + apart] >> 4;
            uint16_t high = a > b ? a : b, low = a > b ? b : a;
            out[k] = (uint16_t)(base + high * (high - 1) / 2 + low - 1);
        }
}

/* Begin to load what will be read soon. */
static inline void bigtop_prefetch(const void *address)
{
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/* Ask for memory in large pages, as far as they lie within these bytes: what is read all over a
 * large tree then finds its address at once. Only a wish; nothing is touched. */
static inline void bigtop_large_pages(void *memory, size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    const uintptr_t page = (uintptr_t)1 << 21;
    uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t last = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (memory && first < last)
        (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)bytes;
#endif
}

#endif
