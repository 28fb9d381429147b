/* Loaded before all other libraries (LD_PRELOAD), counts calls of the memory allocator and of Swift's reference counting,
 * and passes them on. `wifictl bench` finds wifictl_counted_calls here and reports the counts; see the codec's tests. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static uint64_t allocations, references;

#define COUNT(counter) __atomic_fetch_add(&(counter), 1, __ATOMIC_RELAXED)

void *malloc(size_t size) { return COUNT(allocations), __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return COUNT(allocations), __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return COUNT(allocations), __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return COUNT(allocations), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return COUNT(allocations), __libc_memalign(alignment, size); }

int posix_memalign(void **place, size_t alignment, size_t size) {
    COUNT(allocations);
    *place = __libc_memalign(alignment, size);
    return *place ? 0 : 12;
}

/* Swift's functions are found at the first call. */
#define PASS_ON(result, name, parameters, arguments)                                      \
    result name parameters {                                                              \
        static result(*next) parameters;                                                  \
        if (!next) next = (result(*) parameters)dlsym(RTLD_NEXT, #name);                  \
        COUNT(references);                                                                \
        return next arguments;                                                            \
    }

PASS_ON(void *, swift_retain, (void *object), (object))
PASS_ON(void *, swift_retain_n, (void *object, uint32_t count), (object, count))
PASS_ON(void *, swift_bridgeObjectRetain, (void *object), (object))
PASS_ON(void, swift_release, (void *object), (object))
PASS_ON(void, swift_release_n, (void *object, uint32_t count), (object, count))
PASS_ON(void, swift_bridgeObjectRelease, (void *object), (object))

/* 0: allocations, 1: references taken and dropped. */
uint64_t wifictl_counted_calls(int which) { return __atomic_load_n(which ? &references : &allocations, __ATOMIC_RELAXED); }
