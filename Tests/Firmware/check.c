/* The device link on a 32-bit machine without an operating system's libraries: what it must answer to streams that are right, cut anywhere,
 * and to lengths that a 32-bit integer gets wrong. Ends with status 0 when all holds. Only for i386 Linux, which runs it. */
#include <stddef.h>
#include <stdint.h>

size_t device_link_size(void);
void device_link_open(void *link, uint32_t largest_body);
long device_link_received(void *link, const void *bytes, long count, void *output, long capacity);
void device_link_close(void *link);

static unsigned char heap[1 << 16];
static size_t heap_used;
static long taken, last_length;
static uint32_t last_id;

void device_took_message(uint32_t id, const void *body, long length) {
    (void)body;
    taken++;
    last_id = id;
    last_length = length;
}

/* What a firmware has of its own: here, memory that is never given back. */
int posix_memalign(void **place, size_t alignment, size_t size) {
    heap_used = (heap_used + alignment - 1) & ~(alignment - 1);
    if (heap_used + size > sizeof heap) return 12;
    *place = heap + heap_used;
    heap_used += size;
    return 0;
}
void free(void *place) { (void)place; }
void *memmove(void *to, const void *from, size_t count) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) for (size_t i = 0; i < count; i++) t[i] = f[i];
    else while (count--) t[count] = f[count];
    return to;
}
void *memcpy(void *to, const void *from, size_t count) { return memmove(to, from, count); }
void *memset(void *to, int value, size_t count) {
    for (size_t i = 0; i < count; i++) ((unsigned char *)to)[i] = (unsigned char)value;
    return to;
}

uintptr_t __stack_chk_guard = 0x5AFE;
static void leave(int status) { __asm__ volatile("int $0x80" : : "a"(1), "b"(status)); }
void __stack_chk_fail(void) { leave(99); }
static void require(int holds, int line) { if (!holds) leave(line & 0x7F ? line & 0x7F : 1); }
#define REQUIRE(holds) require(holds, __LINE__)

static unsigned char link_memory[512] __attribute__((aligned(16)));

static long one(const unsigned char *bytes, long count, uint32_t largest) {
    unsigned char out[64];
    device_link_open(link_memory, largest);
    long answer = device_link_received(link_memory, bytes, count, out, sizeof out);
    device_link_close(link_memory);
    return answer;
}

void _start(void) {
    REQUIRE(device_link_size() <= sizeof link_memory);
    /* A message, a heartbeat, a message without receipt, a receipt. */
    static const unsigned char stream[] = {0, 0, 0, 7, 0, 1, 0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
                                           0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 'd', 'e', 0, 0, 0, 9, 0, 1, 0, 0, 0, 0};
    static const unsigned char receipt[] = {0, 0, 0, 7, 0, 1, 0, 0, 0, 0};
    for (long cut = 0; cut <= (long)sizeof stream; cut++) {
        unsigned char out[64];
        heap_used = 0;
        taken = 0;
        device_link_open(link_memory, 100);
        long first = device_link_received(link_memory, stream, cut, out, sizeof out);
        REQUIRE(first >= 0);
        long second = device_link_received(link_memory, stream + cut, (long)sizeof stream - cut, out + first, (long)sizeof out - first);
        REQUIRE(second >= 0 && first + second == sizeof receipt && taken == 2 && last_id == 0 && last_length == 2);
        for (size_t i = 0; i < sizeof receipt; i++) REQUIRE(out[i] == receipt[i]);
        device_link_close(link_memory);
    }
    /* Lengths that are negative when signed, that wrap together with the header, and just above what an Int can count. */
    static const uint32_t lengths[] = {0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF6, 0x7FFFFFF6, 0x7FFFFFF5, 101};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint32_t l = lengths[i];
        const unsigned char bad[] = {0, 0, 0, 1, 0, 1, l >> 24, l >> 16, l >> 8, l, 1, 2, 3};
        REQUIRE(one(bad, sizeof bad, 100) == -1);
        /* With no limit of its own the codec's is what an Int counts with the header: 0x7FFFFFF5. */
        REQUIRE(one(bad, sizeof bad, 0xFFFFFFFF) == (l > 0x7FFFFFF5 ? -1 : 0));
    }
    leave(0);
}
