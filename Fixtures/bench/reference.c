/* What the frame codec's figures are held against: the same checks, the same half packets, the same work a frame, in
 * plain C. `wifictl bench` compiles this with the system's C compiler and measures it in turns with the Swift code.
 * Only the standard layout. */
#include "common.h"

#include <stddef.h>
#include <stdlib.h>

struct sink {
    uint64_t sum;
    uint64_t frames;
};

struct decoder {
    uint8_t *held;
    size_t start, count, capacity;
    uint32_t limit;
    uint16_t lowest, highest;
    int failed;
};

/* The work that a consumer does with each frame, here and in the Swift code: enough that no compiler leaves it out. */
static inline void take(struct sink *sink, uint32_t id, const uint8_t *body, uint32_t length) {
    sink->sum += (uint64_t)id + length + (length ? body[0] : 0);
    sink->frames++;
}

/* The body's length, or -1 when the stream can't go on. */
static inline int64_t check(const struct decoder *d, const uint8_t *p) {
    uint16_t version = big16(p + 4);
    if (version < d->lowest || version > d->highest) return -1;
    uint32_t length = big32(p + 6);
    if (length > d->limit) return -1;
    return length;
}

static void reserve(struct decoder *d, size_t need) {
    if (need <= d->capacity) return;
    size_t target = d->capacity * 2 > 64 ? d->capacity * 2 : 64;
    d->capacity = need > target ? need : target;
    d->held = realloc(d->held, d->capacity);
}

/* Frames that lie whole in the read are taken there; only a tail is copied. */
static int in_place(struct decoder *d, const uint8_t *in, size_t n, struct sink *sink) {
    size_t used = 0;
    if (d->failed) return -1;
    if (d->count > 0) {
        if (d->count < HEADER) {
            size_t piece = HEADER - d->count < n ? HEADER - d->count : n;
            reserve(d, HEADER);
            memcpy(d->held + d->count, in, piece);
            d->count += piece;
            used = piece;
            if (d->count < HEADER) return 0;
        }
        int64_t length = check(d, d->held);
        if (length < 0) return d->failed = 1, -1;
        size_t need = HEADER + (size_t)length - d->count;
        size_t piece = need < n - used ? need : n - used;
        reserve(d, d->count + piece);
        memcpy(d->held + d->count, in + used, piece);
        d->count += piece;
        used += piece;
        if (piece < need) return 0;
        take(sink, big32(d->held), d->held + HEADER, (uint32_t)length);
        d->count = 0;
    }
    while (n - used >= HEADER) {
        const uint8_t *p = in + used;
        int64_t length = check(d, p);
        if (length < 0) return d->failed = 1, -1;
        if (n - used < HEADER + (size_t)length) break;
        take(sink, big32(p), p + HEADER, (uint32_t)length);
        used += HEADER + (size_t)length;
    }
    if (used < n) {
        reserve(d, n - used);
        memcpy(d->held, in + used, n - used);
        d->count = n - used;
    }
    return 0;
}

/* Everything is copied into the decoder's buffer and taken from there. */
static int copying(struct decoder *d, const uint8_t *in, size_t n, struct sink *sink) {
    if (d->failed) return -1;
    if (d->start + d->count + n > d->capacity) {
        memmove(d->held, d->held + d->start, d->count);
        d->start = 0;
        reserve(d, d->count + n);
    }
    memcpy(d->held + d->start + d->count, in, n);
    d->count += n;
    while (d->count >= HEADER) {
        const uint8_t *p = d->held + d->start;
        int64_t length = check(d, p);
        if (length < 0) return d->failed = 1, -1;
        if (d->count < HEADER + (size_t)length) break;
        take(sink, big32(p), p + HEADER, (uint32_t)length);
        d->start += HEADER + (size_t)length;
        d->count -= HEADER + (size_t)length;
    }
    if (d->count == 0) d->start = 0;
    return 0;
}

/* Decodes the stream `rounds` times over, in reads that end at `cuts`; 0 for a stream that was refused. */
uint64_t reference_decode(const uint8_t *stream, const size_t *cuts, size_t cut_count, size_t rounds, int copies, uint64_t *frames) {
    struct decoder d = {.limit = 1u << 20, .lowest = 1, .highest = 65535};
    struct sink sink = {0, 0};
    int failed = 0;
    for (size_t round = 0; round < rounds && !failed; round++) {
        size_t from = 0;
        for (size_t i = 0; i < cut_count && !failed; i++) {
            size_t n = cuts[i] - from;
            failed = copies ? copying(&d, stream + from, n, &sink) : in_place(&d, stream + from, n, &sink);
            from = cuts[i];
        }
    }
    free(d.held);
    *frames = sink.frames;
    return failed ? 0 : sink.sum;
}

/* Writes `count` frames with the same body one behind the other, starting over when the output is full. */
uint64_t reference_encode(uint8_t *out, size_t capacity, const uint8_t *body, uint32_t length, size_t count) {
    size_t at = 0;
    uint64_t written = 0;
    for (size_t i = 0; i < count; i++) {
        if (capacity - at < HEADER + (size_t)length) at = 0;
        uint32_t id = __builtin_bswap32((uint32_t)i), field = __builtin_bswap32(length);
        uint16_t version = __builtin_bswap16(1);
        memcpy(out + at, &id, 4);
        memcpy(out + at + 4, &version, 2);
        memcpy(out + at + 6, &field, 4);
        memcpy(out + at + HEADER, body, length);
        at += HEADER + (size_t)length;
        written += HEADER + (uint64_t)length;
    }
    return written;
}
