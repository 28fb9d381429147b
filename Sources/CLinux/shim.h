// The parts of Linux's C headers that Glibc's module map leaves out. Declarations only: no logic lives here,
// except to give a C macro that Swift can't import a name and a type.
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// After libc's own: the kernel's headers step back from what <net/if.h> has defined, not the other way round.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/neighbour.h>
#include <linux/genetlink.h>
#include <linux/nl80211.h>

// What glibc shows only under _GNU_SOURCE. Swift's own Glibc module is built without that macro, and two modules that
// see one header differently don't go together; so these are declared here, under names of our own where they are types.
struct clinux_mmsghdr {
    struct msghdr msg_hdr;
    unsigned int msg_len;
};
struct clinux_in6_pktinfo {
    struct in6_addr ipi6_addr;
    unsigned int ipi6_ifindex;
};
int accept4(int descriptor, struct sockaddr *peer, socklen_t *length, int flags);
int recvmmsg(int descriptor, struct clinux_mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout);
int pthread_setname_np(pthread_t thread, const char *name);
struct clinux_mallinfo {
    size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
struct clinux_mallinfo mallinfo2(void);
int sched_getaffinity(pid_t thread, size_t size, unsigned long *cores);
int sched_setaffinity(pid_t thread, size_t size, const unsigned long *cores);

// Casts and macros of the socket interface that Swift's importer can't express.
// The kernel's stamp on each datagram that comes in: macros that depend on macros.
static inline int clinux_stamp_option(void) { return SO_TIMESTAMPNS; }
static inline int clinux_stamp_message(void) { return SCM_TIMESTAMPNS; }
static inline size_t clinux_cmsg_align(size_t length) { return CMSG_ALIGN(length); }
static inline size_t clinux_cmsg_space(size_t length) { return CMSG_SPACE(length); }
static inline size_t clinux_cmsg_len(size_t length) { return CMSG_LEN(length); }
static inline struct cmsghdr *clinux_cmsg_first(struct msghdr *message) { return CMSG_FIRSTHDR(message); }
static inline struct cmsghdr *clinux_cmsg_next(struct msghdr *message, struct cmsghdr *current) { return CMSG_NXTHDR(message, current); }
static inline unsigned char *clinux_cmsg_data(struct cmsghdr *header) { return CMSG_DATA(header); }

#endif
