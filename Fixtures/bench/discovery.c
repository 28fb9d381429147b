/* What discovery's figures are held against: a datagram there and back over loopback, and a bare loop that receives
 * datagrams in batches and looks at their headers. `wifictl bench` compiles this with the system's C compiler. */
#define _GNU_SOURCE
#include "common.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BATCH = 32, BURST = 128, ROOM = 2048, CONTROL = 128 };

/* A socket on 127.0.0.1 and the kernel's choice of port; -1 when there's none. */
static int open_socket(struct sockaddr_in *own) {
    int number = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int on = 1, room = 4 << 20;
    socklen_t length = sizeof *own;
    memset(own, 0, sizeof *own);
    own->sin_family = AF_INET;
    own->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (number < 0) return -1;
    setsockopt(number, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (setsockopt(number, IPPROTO_IP, IP_PKTINFO, &on, sizeof on) || bind(number, (struct sockaddr *)own, sizeof *own) ||
        getsockname(number, (struct sockaddr *)own, &length)) {
        close(number);
        return -1;
    }
    return number;
}

struct echo {
    int number;
    size_t left;
};

static void *answer(void *argument) {
    struct echo *echo = argument;
    uint8_t bytes[ROOM];
    while (echo->left > 0) {
        struct sockaddr_in peer;
        socklen_t length = sizeof peer;
        ssize_t count = recvfrom(echo->number, bytes, sizeof bytes, 0, (struct sockaddr *)&peer, &length);
        if (count < 0 || sendto(echo->number, bytes, (size_t)count, 0, (struct sockaddr *)&peer, length) < 0) return argument;
        echo->left--;
    }
    return NULL;
}

/* The nanoseconds that a datagram of that size takes to another thread and back, `count` times; 1 when all went well. */
int reference_round_trips(size_t size, size_t count, uint64_t *samples) {
    struct sockaddr_in here, there;
    uint8_t bytes[ROOM] = {0};
    int asking = open_socket(&here), answering = open_socket(&there), fine = 0;
    struct echo echo = {answering, count};
    struct timeval patience = {1, 0};
    pthread_t thread;
    if (asking < 0 || answering < 0 || size > ROOM) goto end;
    /* A lost datagram, which loopback doesn't know, ends it instead of holding it up. */
    setsockopt(asking, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(answering, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (pthread_create(&thread, NULL, answer, &echo)) goto end;
    fine = 1;
    for (size_t i = 0; i < count && fine; i++) {
        uint64_t before = nanoseconds(CLOCK_MONOTONIC);
        if (sendto(asking, bytes, size, 0, (struct sockaddr *)&there, sizeof there) < 0 ||
            recv(asking, bytes, sizeof bytes, 0) < 0)
            fine = 0;
        samples[i] = nanoseconds(CLOCK_MONOTONIC) - before;
    }
    pthread_join(thread, NULL);
end:
    if (asking >= 0) close(asking);
    if (answering >= 0) close(answering);
    return fine;
}

/* Receives at least `count` copies of a datagram, sent in bursts that fit the socket's buffer. Gives the CPU time of the
 * receiving alone, in nanoseconds, and how many came; 0 when something failed. */
uint64_t reference_receive(const uint8_t *datagram, size_t size, size_t count, uint64_t *received) {
    static struct mmsghdr messages[BATCH];
    static struct iovec vectors[BATCH];
    static struct sockaddr_storage names[BATCH];
    static uint8_t room[BATCH][ROOM];
    static _Alignas(16) uint8_t control[BATCH][CONTROL];
    struct sockaddr_in here, there;
    int receiving = open_socket(&here), sending = open_socket(&there);
    uint64_t spent = 0, sum = 0;
    *received = 0;
    while (receiving >= 0 && sending >= 0 && *received < count) {
        for (int i = 0; i < BURST; i++) sendto(sending, datagram, size, 0, (struct sockaddr *)&here, sizeof here);
        uint64_t before = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
        struct pollfd waiting = {receiving, POLLIN, 0};
        if (poll(&waiting, 1, 1000) <= 0) break;
        while (1) {
            for (int i = 0; i < BATCH; i++) {
                vectors[i] = (struct iovec){room[i], ROOM};
                messages[i].msg_hdr = (struct msghdr){.msg_name = &names[i], .msg_namelen = sizeof names[i], .msg_iov = &vectors[i],
                    .msg_iovlen = 1, .msg_control = control[i], .msg_controllen = CONTROL};
            }
            int taken = recvmmsg(receiving, messages, BATCH, MSG_DONTWAIT, NULL);
            if (taken <= 0) break;
            for (int i = 0; i < taken; i++) {
                uint32_t length;
                memcpy(&length, room[i] + 6, 4);
                if (room[i][4] == 0 && room[i][5] == 1 && ntohl(length) + 10 == messages[i].msg_len) sum += room[i][10];
                ++*received;
            }
            if (taken < BATCH) break;
        }
        spent += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    if (receiving >= 0) close(receiving);
    if (sending >= 0) close(sending);
    /* The sum is looked at, so that the looking isn't left out. */
    return *received >= count && sum ? spent : 0;
}
