/* Preloaded into a program under test: its TCP sockets have the smallest buffers that the kernel gives, each send takes a few bytes and
   the next one none, and each recv brings a few. What a busy kernel may do at any time is done all the time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LARGEST = 13, DESCRIPTORS = 4096 };
static atomic_uint turns[DESCRIPTORS];

/* From 1 to LARGEST bytes, in an order that meets frames at any byte. */
static size_t piece(int descriptor, size_t wanted) {
    unsigned turn = descriptor >= 0 && descriptor < DESCRIPTORS ? atomic_fetch_add(&turns[descriptor], 1) : 0;
    size_t some = 1 + turn * 7 % LARGEST;
    return wanted < some ? wanted : some;
}

static int is_stream(int descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

int socket(int domain, int type, int protocol) {
    int (*original)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
    int descriptor = original(domain, type, protocol);
    if (descriptor >= 0 && (domain == AF_INET || domain == AF_INET6) && (type & 15) == SOCK_STREAM) {
        int smallest = 1;
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest);
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &smallest, sizeof smallest);
    }
    return descriptor;
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    ssize_t (*original)(int, const void *, size_t, int) = (ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
    if (!is_stream(descriptor)) return original(descriptor, bytes, count, flags);
    if (descriptor < DESCRIPTORS && atomic_load(&turns[descriptor]) % 2) {
        atomic_fetch_add(&turns[descriptor], 1);
        errno = EAGAIN;
        return -1;
    }
    return original(descriptor, bytes, piece(descriptor, count), flags);
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
    ssize_t (*original)(int, void *, size_t, int) = (ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    if (!is_stream(descriptor)) return original(descriptor, bytes, count, flags);
    size_t some = 1 + count % LARGEST;
    return original(descriptor, bytes, count < some ? count : some, flags);
}
