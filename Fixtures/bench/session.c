/* What a session's speed is held against: a server and a client on bare epoll, with the same system calls, the same framing and
 * the same batching of receipts as the Swift code, and none of a session's memory (no duplicates, no outbox, no timers).
 * `wifictl bench session` compiles this with the system's C compiler and measures it in turns with the Swift code. */
#define _GNU_SOURCE
#include "common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY = 16, READ = 64 * 1024, LIMIT = 1 << 20, EVENTS = 256, LARGEST_WINDOW = 1024 };

struct output {
    uint8_t *bytes;
    size_t start, count, capacity;
};

struct held {
    uint8_t *bytes;
    size_t count, capacity;
};

struct connection {
    int fd, greeted, writing;
    struct held held;
    struct output out;
};

static int64_t check(const uint8_t *p) {
    if (big16(p + 4) != 1) return -1;
    uint32_t length = big32(p + 6);
    return length > LIMIT ? -1 : (int64_t)length;
}

static void keep(struct held *h, const uint8_t *bytes, size_t n) {
    if (h->count + n > h->capacity) {
        h->capacity = h->capacity * 2 > h->count + n ? h->capacity * 2 : h->count + n;
        h->bytes = realloc(h->bytes, h->capacity);
    }
    memcpy(h->bytes + h->count, bytes, n);
    h->count += n;
}

static inline void append(struct output *o, uint32_t id, const uint8_t *body, uint32_t length) {
    size_t need = HEADER + length;
    if (o->start + o->count + need > o->capacity) {
        memmove(o->bytes, o->bytes + o->start, o->count);
        o->start = 0;
        if (o->count + need > o->capacity) {
            o->capacity = o->capacity * 2 > o->count + need ? o->capacity * 2 : o->count + need;
            o->bytes = realloc(o->bytes, o->capacity);
        }
    }
    uint8_t *p = o->bytes + o->start + o->count;
    uint32_t big = __builtin_bswap32(id), big_length = __builtin_bswap32(length);
    uint16_t version = __builtin_bswap16(1);
    memcpy(p, &big, 4);
    memcpy(p + 4, &version, 2);
    memcpy(p + 6, &big_length, 4);
    if (length) memcpy(p + HEADER, body, length);
    o->count += need;
}

/* One write for all that a tick has gathered; what the kernel doesn't take waits for EPOLLOUT. -1: the connection is broken. */
static int flush(int epoll, struct connection *c) {
    struct output *o = &c->out;
    while (o->count > 0) {
        ssize_t n = send(c->fd, o->bytes + o->start, o->count, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EAGAIN) return -1;
        if (n < 0) break;
        o->start += (size_t)n;
        o->count -= (size_t)n;
    }
    if (o->count == 0) o->start = 0;
    int wants = o->count > 0;
    if (wants == c->writing) return 0;
    c->writing = wants;
    struct epoll_event e = {.events = EPOLLIN | (wants ? EPOLLOUT : 0), .data.ptr = c};
    return epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &e);
}

typedef int take(void *context, struct connection *c, uint32_t id, const uint8_t *body, uint32_t length);

/* Frames that lie whole in the read are taken there; only a tail is kept. -1: the stream can't go on. */
static inline int decode(struct connection *c, const uint8_t *in, size_t n, take *take, void *context) {
    size_t used = 0;
    struct held *h = &c->held;
    while (h->count > 0) {
        size_t need = HEADER;
        if (h->count >= HEADER) {
            int64_t length = check(h->bytes);
            if (length < 0) return -1;
            need += (size_t)length;
        }
        size_t piece = need - h->count < n - used ? need - h->count : n - used;
        keep(h, in + used, piece);
        used += piece;
        if (h->count < need) return 0;
        if (need == HEADER && check(h->bytes) != 0) {
            if (check(h->bytes) < 0) return -1;
            continue;
        }
        if (take(context, c, big32(h->bytes), h->bytes + HEADER, (uint32_t)(need - HEADER)) < 0) return -1;
        h->count = 0;
    }
    while (n - used >= HEADER) {
        int64_t length = check(in + used);
        if (length < 0) return -1;
        if (n - used < HEADER + (size_t)length) break;
        if (take(context, c, big32(in + used), in + used + HEADER, (uint32_t)length) < 0) return -1;
        used += HEADER + (size_t)length;
    }
    if (used < n) keep(h, in + used, n - used);
    return 0;
}

/* What is done with a message, here and in the Swift code: enough that no compiler leaves it out. */
struct server {
    const char *hello;
    uint64_t sum, messages;
};

/* The router's hello is the template with the controller's session copied into it. */
static int greet(struct server *s, struct connection *c, const uint8_t *body, uint32_t length) {
    static const char key[] = "\"session\":\"";
    const char *theirs = memmem(body, length, key, sizeof key - 1);
    size_t size = strlen(s->hello);
    char *answer = malloc(size + 1);
    memcpy(answer, s->hello, size + 1);
    char *ours = strstr(answer, key);
    if (!theirs || !ours) return free(answer), -1;
    memcpy(ours + sizeof key - 1, theirs + sizeof key - 1, 32);
    append(&c->out, 0, (const uint8_t *)answer, (uint32_t)size);
    free(answer);
    c->greeted = 1;
    return 0;
}

static inline int serve_frame(void *context, struct connection *c, uint32_t id, const uint8_t *body, uint32_t length) {
    struct server *s = context;
    if (!c->greeted) return greet(s, c, body, length);
    if (length == 0) return 0;
    s->sum += (uint64_t)id + length + body[0];
    s->messages++;
    if (id) append(&c->out, id, NULL, 0);
    return 0;
}

static void drop(struct connection *c) {
    close(c->fd);
    free(c->held.bytes);
    free(c->out.bytes);
    free(c);
}

static void greet_newcomer(int epoll, int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0) drop(c);
}

/* A listening socket on 127.0.0.1; its port by `port`. -1 when there's none to be had. */
int reference_session_listen(uint16_t *port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) < 0 || listen(fd, 16) < 0) return -1;
    if (getsockname(fd, (struct sockaddr *)&a, &size) < 0) return -1;
    *port = ntohs(a.sin_port);
    return fd;
}

/* Serves until `stop` is readable; takes both descriptors over. */
uint64_t reference_session_serve(int listener, int stop, const char *hello) {
    static uint8_t input[READ];
    struct server s = {.hello = hello};
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(EPOLL_CLOEXEC), running = 1;
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.ptr = &listener});
    epoll_ctl(epoll, EPOLL_CTL_ADD, stop, &(struct epoll_event){.events = EPOLLIN, .data.ptr = &stop});
    while (running) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        (void)nanoseconds(CLOCK_MONOTONIC);
        for (int i = 0; i < count; i++) {
            struct connection *c = events[i].data.ptr;
            if ((void *)c == &listener) greet_newcomer(epoll, listener);
            else if ((void *)c == &stop) running = 0;
            else {
                ssize_t n = 1;
                if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                    n = recv(c->fd, input, sizeof input, 0);
                    if (n > 0 && decode(c, input, (size_t)n, serve_frame, &s) < 0) n = 0;
                }
                if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || flush(epoll, c) < 0) drop(c);
            }
        }
    }
    close(epoll);
    close(listener);
    close(stop);
    return s.sum;
}

struct client {
    struct connection c;
    int epoll;
    uint32_t next_id, unsettled;
    uint64_t settled, clock, *latencies;
    size_t latency_count, latency_capacity;
    uint64_t sent_at[LARGEST_WINDOW];
    int stopping;
};

static inline void send_message(struct client *k) {
    static const uint8_t body[BODY] = "message for you";
    uint32_t id = k->next_id++;
    k->sent_at[id % LARGEST_WINDOW] = k->clock;
    k->unsettled++;
    append(&k->c.out, id, body, BODY);
}

static inline int client_frame(void *context, struct connection *c, uint32_t id, const uint8_t *body, uint32_t length) {
    struct client *k = context;
    (void)body;
    if (!c->greeted) return c->greeted = 1, 0;
    if (id == 0 || length != 0) return 0;
    k->settled++;
    k->unsettled--;
    if (k->latency_count < k->latency_capacity) k->latencies[k->latency_count++] = k->clock - k->sent_at[id % LARGEST_WINDOW];
    if (!k->stopping) send_message(k);
    return 0;
}

static int client_turn(struct client *k) {
    static uint8_t input[READ];
    struct epoll_event event;
    if (flush(k->epoll, &k->c) < 0) return -1;
    if (epoll_wait(k->epoll, &event, 1, 10000) < 1) return -1;
    k->clock = nanoseconds(CLOCK_MONOTONIC);
    if (!(event.events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return 0;
    ssize_t n = recv(k->c.fd, input, sizeof input, 0);
    return n <= 0 ? -1 : decode(&k->c, input, (size_t)n, client_frame, k);
}

void reference_session_close(struct client *k) {
    close(k->epoll);
    close(k->c.fd);
    free(k->c.held.bytes);
    free(k->c.out.bytes);
    free(k);
}

/* Connects and says hello; NULL when nobody answers. */
struct client *reference_session_connect(uint16_t port, const char *hello) {
    struct client *k = calloc(1, sizeof *k);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    k->next_id = 1;
    k->epoll = epoll_create1(EPOLL_CLOEXEC);
    k->c.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(k->c.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    int failed = connect(k->c.fd, (struct sockaddr *)&a, sizeof a);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &k->c};
    failed |= epoll_ctl(k->epoll, EPOLL_CTL_ADD, k->c.fd, &e);
    append(&k->c.out, 0, (const uint8_t *)hello, (uint32_t)strlen(hello));
    while (!failed && !k->c.greeted) failed = client_turn(k);
    if (!failed) return k;
    reference_session_close(k);
    return NULL;
}

/* Keeps `window` messages under way for `span` nanoseconds, then waits for the last receipts. Writes up to `capacity` latencies.
 * Gives the messages settled; 0 when the connection broke. */
uint64_t reference_session_run(
    struct client *k, uint32_t window, uint64_t span, uint64_t *latencies, size_t capacity, size_t *latency_count) {
    k->settled = k->latency_count = 0;
    k->latencies = latencies;
    k->latency_capacity = capacity;
    k->stopping = 0;
    k->clock = nanoseconds(CLOCK_MONOTONIC);
    uint64_t end = k->clock + span;
    for (uint32_t i = 0; i < window && i < LARGEST_WINDOW; i++) send_message(k);
    while (k->unsettled > 0) {
        if (client_turn(k) < 0) return 0;
        if (k->clock >= end) k->stopping = 1;
    }
    *latency_count = k->latency_count;
    return k->settled;
}
