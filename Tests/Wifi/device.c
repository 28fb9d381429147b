/* A device of another maker for .ci/test-wifi.sh: answers Ubiquiti's discovery on 127.0.0.1 with one MAC and one name.
 * Usage: device OCTETS, the MAC as 12 hexadecimal digits. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int main(int count, char **words) {
    /* Version 1; the MAC as record 1, the name as record 0x0b. */
    unsigned char answer[] = {1, 0, 0, 17, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0x0b, 0, 5, 'A', 't', 't', 'i', 'c'};
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(10001), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int number = socket(AF_INET, SOCK_DGRAM, 0);
    if (count != 2 || strlen(words[1]) != 12 || number < 0 || bind(number, (struct sockaddr *)&own, sizeof own)) return 1;
    for (int i = 0; i < 6; i++) {
        unsigned octet;
        if (sscanf(words[1] + 2 * i, "%2x", &octet) != 1) return 1;
        answer[7 + i] = (unsigned char)octet;
    }
    while (1) {
        unsigned char asked[64];
        struct sockaddr_in peer;
        socklen_t length = sizeof peer;
        if (recvfrom(number, asked, sizeof asked, 0, (struct sockaddr *)&peer, &length) < 0) return 1;
        sendto(number, answer, sizeof answer, 0, (struct sockaddr *)&peer, length);
    }
}
