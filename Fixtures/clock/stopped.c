/* Preloaded into a program under test: its civil time stands still at CLOCK_STOPPED_AT, in seconds since 1970. */
#include <stdlib.h>
#include <time.h>

time_t time(time_t *where) {
    const char *text = getenv("CLOCK_STOPPED_AT");
    struct timespec now;
    time_t seconds;
    if (text) {
        seconds = (time_t)atoll(text);
    } else {
        clock_gettime(CLOCK_REALTIME, &now);
        seconds = now.tv_sec;
    }
    if (where) *where = seconds;
    return seconds;
}
