/* The arithmetic of the evaluation's network.

   Inputs are sparse: a list of numbers of inputs that are on, some perhaps twice.  They go
   through two hidden layers to one output.  Playing uses whole numbers only, so that every
   machine computes the same; how they are scaled is said beside each field. */
#ifndef BIGTOP_NETWORK_H
#define BIGTOP_NETWORK_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define BIGTOP_INPUTS 1536
#define BIGTOP_WIDE 128   /* first hidden layer */
#define BIGTOP_NARROW 32  /* second hidden layer */

#define BIGTOP_CAP1 2047  /* of an output of the first hidden layer: 8 */
#define BIGTOP_CAP2 8191  /* of the second: 32 */
#define BIGTOP_MOST 8000  /* of a weight of the second and third layer, either sign */
#define BIGTOP_MOST_BIAS (1 << 24)  /* of a bias there */

/* With the bounds above no sum can leave 32 bits, in whatever order it is made:
   2047 * 8000 * 128 + 2^24 and 8191 * 8000 * 32 + 2^24 are below 2^31.  Sums of the first
   layer are kept in 16 bits and go round: they are right as long as the whole sum is within
   -128 and 128, also when a part of it was not. */
typedef struct {
    int16_t first[BIGTOP_INPUTS][BIGTOP_WIDE];            /* 1/256 */
    int16_t first_bias[BIGTOP_WIDE];                      /* 1/256 */
    int16_t second[BIGTOP_WIDE / 2][BIGTOP_NARROW][2];    /* 1/2048, inputs in pairs */
    int32_t second_bias[BIGTOP_NARROW];                   /* 1/2^19 */
    int16_t third[BIGTOP_NARROW];                         /* 1/2048 */
    int32_t third_bias;                                   /* 1/2^19 */
    int32_t unused[15];                                   /* to a multiple of 64 bytes */
} bigtop_net;

#if defined(__GNUC__)
/* 16 numbers; the compiler takes as many registers as the machine needs for them.  Unsigned,
   since C says of those alone that they go round. */
typedef uint16_t bigtop_lane __attribute__((vector_size(32), may_alias, aligned(2)));
#define BIGTOP_LANES (BIGTOP_WIDE / 16)
#endif

static inline const int16_t *bigtop_net_bias(const bigtop_net *net) { return net->first_bias; }

/* to = from + the rows of the inputs that are on */
static inline void bigtop_net_sum(const bigtop_net *net, int16_t *to, const int16_t *from,
                                  const uint16_t *inputs, int n)
{
    int i, j;
#if defined(__GNUC__)
    bigtop_lane sum[BIGTOP_LANES];
    for (j = 0; j < BIGTOP_LANES; j++)
        sum[j] = ((const bigtop_lane *)from)[j];
    for (i = 0; i < n; i++) {
        const bigtop_lane *row = (const bigtop_lane *)net->first[inputs[i]];
#pragma GCC unroll 8
        for (j = 0; j < BIGTOP_LANES; j++)
            sum[j] += row[j];
    }
    for (j = 0; j < BIGTOP_LANES; j++)
        ((bigtop_lane *)to)[j] = sum[j];
#else
    memmove(to, from, BIGTOP_WIDE * sizeof(int16_t));
    for (i = 0; i < n; i++)
        for (j = 0; j < BIGTOP_WIDE; j++)
            to[j] = (int16_t)(to[j] + net->first[inputs[i]][j]);
#endif
}

/* Whether all weights and biases are within the bounds that the sums need. */
static inline int bigtop_net_sound(const bigtop_net *net)
{
    const int16_t *second = &net->second[0][0][0];
    int k;
    for (k = 0; k < BIGTOP_WIDE * BIGTOP_NARROW; k++)
        if (second[k] < -BIGTOP_MOST || second[k] > BIGTOP_MOST)
            return 0;
    for (k = 0; k < BIGTOP_NARROW; k++)
        if (net->third[k] < -BIGTOP_MOST || net->third[k] > BIGTOP_MOST
            || net->second_bias[k] < -BIGTOP_MOST_BIAS || net->second_bias[k] > BIGTOP_MOST_BIAS)
            return 0;
    return net->third_bias >= -BIGTOP_MOST_BIAS && net->third_bias <= BIGTOP_MOST_BIAS;
}

/* The output for sums of the first layer, in 1/2^16 points (one unit is 8 points). */
static inline int32_t bigtop_net_output(const bigtop_net *net, const int16_t *sums)
{
    int16_t on[BIGTOP_WIDE];
    int32_t hidden[BIGTOP_NARROW];
    int32_t out = net->third_bias;
    int i, k;
    for (i = 0; i < BIGTOP_WIDE; i++) {
        int16_t x = sums[i];
        x = x < 0 ? 0 : x;
        on[i] = x > BIGTOP_CAP1 ? BIGTOP_CAP1 : x;
    }
#if defined(__AVX512BW__)
    {
        __m512i low = _mm512_loadu_si512((const void *)net->second_bias);
        __m512i high = _mm512_loadu_si512((const void *)(net->second_bias + 16));
        for (i = 0; i < BIGTOP_WIDE / 2; i++) {
            int32_t two;
            memcpy(&two, on + 2 * i, 4);
            const int16_t *w = net->second[i][0];
            __m512i x = _mm512_set1_epi32(two);
            low = _mm512_add_epi32(low, _mm512_madd_epi16(x, _mm512_loadu_si512((const void *)w)));
            high = _mm512_add_epi32(
                high, _mm512_madd_epi16(x, _mm512_loadu_si512((const void *)(w + 32))));
        }
        _mm512_storeu_si512((void *)hidden, low);
        _mm512_storeu_si512((void *)(hidden + 16), high);
    }
#elif defined(__AVX2__)
    {
        __m256i sum[4];
        for (k = 0; k < 4; k++)
            sum[k] = _mm256_loadu_si256((const __m256i *)net->second_bias + k);
        for (i = 0; i < BIGTOP_WIDE / 2; i++) {
            int32_t two;
            memcpy(&two, on + 2 * i, 4);
            const __m256i *w = (const __m256i *)net->second[i][0];
            __m256i x = _mm256_set1_epi32(two);
            for (k = 0; k < 4; k++)
                sum[k] = _mm256_add_epi32(sum[k],
                                          _mm256_madd_epi16(x, _mm256_loadu_si256(w + k)));
        }
        for (k = 0; k < 4; k++)
            _mm256_storeu_si256((__m256i *)hidden + k, sum[k]);
    }
#elif defined(__SSE2__)
    {
        __m128i sum[8];
        for (k = 0; k < 8; k++)
            sum[k] = _mm_loadu_si128((const __m128i *)net->second_bias + k);
        for (i = 0; i < BIGTOP_WIDE / 2; i++) {
            int32_t two;
            memcpy(&two, on + 2 * i, 4);
            const __m128i *w = (const __m128i *)net->second[i][0];
            __m128i x = _mm_set1_epi32(two);
            for (k = 0; k < 8; k++)
                sum[k] = _mm_add_epi32(sum[k], _mm_madd_epi16(x, _mm_loadu_si128(w + k)));
        }
        for (k = 0; k < 8; k++)
            _mm_storeu_si128((__m128i *)hidden + k, sum[k]);
    }
#else
    memcpy(hidden, net->second_bias, sizeof hidden);
    for (i = 0; i < BIGTOP_WIDE / 2; i++)
        for (k = 0; k < BIGTOP_NARROW; k++)
            hidden[k] += on[2 * i] * net->second[i][k][0]
                         + on[2 * i + 1] * net->second[i][k][1];
#endif
    for (k = 0; k < BIGTOP_NARROW; k++) {
        int32_t x = hidden[k] < 0 ? 0 : hidden[k] >> 11;
        out += (x > BIGTOP_CAP2 ? BIGTOP_CAP2 : x) * net->third[k];
    }
    return out;
}

/* ---- training: the same network in single precision ---- */

/* Weights in one piece; a gradient and the optimiser's moments have the same shape. */
typedef struct {
    float first[BIGTOP_INPUTS][BIGTOP_WIDE];
    float first_bias[BIGTOP_WIDE];
    float second[BIGTOP_WIDE][BIGTOP_NARROW];
    float second_bias[BIGTOP_NARROW];
    float third[BIGTOP_NARROW];
    float third_bias;
    float unused[15];
} bigtop_weights;

#define BIGTOP_WEIGHTS ((int)(sizeof(bigtop_weights) / sizeof(float)))

#if defined(__GNUC__) && !defined(__clang__)
#define BIGTOP_VECTOR_SQRT __attribute__((optimize("no-math-errno")))
#else
#define BIGTOP_VECTOR_SQRT
#endif

/* The output for one position, in units of 8 points; with `gradient`, add to it that of
   (output - target)^2 / 2 and return the output. */
static inline float bigtop_learn(const bigtop_weights *restrict w, const uint16_t *inputs, int n,
                                 float target, bigtop_weights *restrict gradient)
{
    float sums[BIGTOP_WIDE], on[BIGTOP_WIDE], hidden[BIGTOP_NARROW], up[BIGTOP_NARROW];
    float back[BIGTOP_WIDE];
    float out = w->third_bias, error;
    int i, j, k;
    memcpy(sums, w->first_bias, sizeof sums);
    for (i = 0; i < n; i++)
        for (j = 0; j < BIGTOP_WIDE; j++)
            sums[j] += w->first[inputs[i]][j];
    for (j = 0; j < BIGTOP_WIDE; j++)
        on[j] = sums[j] < 0 ? 0 : sums[j] > 8 ? 8 : sums[j];
    memcpy(hidden, w->second_bias, sizeof hidden);
    for (j = 0; j < BIGTOP_WIDE; j++)
        if (on[j] > 0)
            for (k = 0; k < BIGTOP_NARROW; k++)
                hidden[k] += on[j] * w->second[j][k];
    for (k = 0; k < BIGTOP_NARROW; k++) {
        float x = hidden[k] < 0 ? 0 : hidden[k] > 32 ? 32 : hidden[k];
        out += x * w->third[k];
        up[k] = x;
    }
    if (!gradient)
        return out;
    error = out - target;
    gradient->third_bias += error;
    for (k = 0; k < BIGTOP_NARROW; k++) {
        float inside = up[k] > 0 && up[k] < 32 ? error : 0;
        gradient->third[k] += error * up[k];
        up[k] = inside * w->third[k];
        gradient->second_bias[k] += up[k];
    }
    for (j = 0; j < BIGTOP_WIDE; j++) {
        float part[8] = {0};
        back[j] = 0;
        if (on[j] > 0) {
            for (k = 0; k < BIGTOP_NARROW; k += 8)
                for (i = 0; i < 8; i++)
                    part[i] += up[k + i] * w->second[j][k + i];
            for (k = 0; k < BIGTOP_NARROW; k++)
                gradient->second[j][k] += on[j] * up[k];
            if (on[j] < 8)
                back[j] = ((part[0] + part[4]) + (part[1] + part[5]))
                          + ((part[2] + part[6]) + (part[3] + part[7]));
        }
    }
    for (j = 0; j < BIGTOP_WIDE; j++)
        gradient->first_bias[j] += back[j];
    for (i = 0; i < n; i++)
        for (j = 0; j < BIGTOP_WIDE; j++)
            gradient->first[inputs[i]][j] += back[j];
    return out;
}

/* One step of Adam (Kingma and Ba, 2015, algorithm 1) on all weights, and of the running mean
   of the weights; the gradient is a sum over `batch` positions and is zeroed. */
BIGTOP_VECTOR_SQRT
static inline void bigtop_adam(float *restrict w, float *restrict gradient, float *restrict first,
                        float *restrict second, float *restrict mean, int n, int batch, float rate,
                        float keep_mean, double correct1, double correct2)
{
    float scale = 1.0f / (float)batch;
    float step = (float)(rate / correct1), root = (float)(1.0 / correct2);
    int i;
    for (i = 0; i < n; i++) {
        float g = gradient[i] * scale;
        first[i] = 0.9f * first[i] + 0.1f * g;
        second[i] = 0.999f * second[i] + 0.001f * g * g;
        w[i] -= step * first[i] / (__builtin_sqrtf(second[i] * root) + 1e-8f);
        mean[i] = keep_mean * mean[i] + (1.0f - keep_mean) * w[i];
        gradient[i] = 0;
    }
}

static inline int32_t bigtop_scaled(float x, float scale, int32_t most)
{
    float y = x * scale;
    y = y < 0 ? y - 0.5f : y + 0.5f;
    return y > (float)most ? most : y < (float)-most ? -most : (int32_t)y;
}

/* The whole-number network nearest to these weights. */
static inline void bigtop_quantise(bigtop_net *net, const bigtop_weights *w)
{
    int i, j, k;
    memset(net, 0, sizeof *net);
    for (i = 0; i < BIGTOP_INPUTS; i++)
        for (j = 0; j < BIGTOP_WIDE; j++)
            net->first[i][j] = (int16_t)bigtop_scaled(w->first[i][j], 256, 8191);
    for (j = 0; j < BIGTOP_WIDE; j++) {
        net->first_bias[j] = (int16_t)bigtop_scaled(w->first_bias[j], 256, 8191);
        for (k = 0; k < BIGTOP_NARROW; k++)
            net->second[j / 2][k][j & 1] = (int16_t)bigtop_scaled(w->second[j][k], 2048,
                                                                    BIGTOP_MOST);
    }
    for (k = 0; k < BIGTOP_NARROW; k++) {
        net->second_bias[k] = bigtop_scaled(w->second_bias[k], 524288, BIGTOP_MOST_BIAS);
        net->third[k] = (int16_t)bigtop_scaled(w->third[k], 2048, BIGTOP_MOST);
    }
    net->third_bias = bigtop_scaled(w->third_bias, 524288, BIGTOP_MOST_BIAS);
}

#endif
