/* The TLS of `wifictl bench tls` in C: OpenSSL's own client and server over a pair of memory BIOs, with the same settings. Unlike
 * the engine it doesn't judge a resumed session again, and reads no certificate beyond what the chain needs. */
#include <openssl/ssl.h>
#include <stddef.h>

static SSL_CTX *contexts[2];
static SSL_SESSION *newest;

static int keep_session(SSL *connection, SSL_SESSION *session) {
    (void)connection;
    SSL_SESSION_free(newest);
    newest = session;
    return 1;
}

static SSL_CTX *make_context(int is_client, const char *certificate, const char *key, const char *root) {
    SSL_CTX *context = SSL_CTX_new(is_client ? TLS_client_method() : TLS_server_method());
    if (context == NULL) return NULL;
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    int is_set = SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                 SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1 &&
                 SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1 &&
                 SSL_CTX_use_certificate_chain_file(context, certificate) == 1 &&
                 SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 &&
                 SSL_CTX_load_verify_locations(context, root, NULL) == 1;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (is_client ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT), NULL);
    if (is_client) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    } else {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        is_set = is_set && SSL_CTX_set_num_tickets(context, 1) == 1 &&
                 SSL_CTX_set_session_id_context(context, (const unsigned char *)"b", 1) == 1;
    }
    if (is_set) return context;
    SSL_CTX_free(context);
    return NULL;
}

/* Takes the files of both sides; 1 when they can be used. */
int reference_tls_prepare(const char *client_certificate, const char *client_key, const char *client_root, const char *server_certificate,
                          const char *server_key, const char *server_root) {
    contexts[0] = make_context(1, client_certificate, client_key, client_root);
    contexts[1] = make_context(0, server_certificate, server_key, server_root);
    return contexts[0] != NULL && contexts[1] != NULL;
}

static int open_pair(SSL **client, SSL **server, SSL_SESSION *session) {
    BIO *near_end = NULL, *far_end = NULL;
    *client = SSL_new(contexts[0]);
    *server = SSL_new(contexts[1]);
    if (*client == NULL || *server == NULL || BIO_new_bio_pair(&near_end, 65536, &far_end, 65536) != 1) return 0;
    SSL_set_bio(*client, near_end, near_end);
    SSL_set_bio(*server, far_end, far_end);
    SSL_set_connect_state(*client);
    SSL_set_accept_state(*server);
    if (session != NULL) SSL_set_session(*client, session);
    int client_done = 0, server_done = 0;
    for (int step = 0; step < 10 && !(client_done && server_done); step++) {
        if (!client_done) client_done = SSL_do_handshake(*client) == 1;
        if (!server_done) server_done = SSL_do_handshake(*server) == 1;
    }
    /* Brings the ticket. */
    char byte;
    SSL_read(*client, &byte, 1);
    return client_done && server_done;
}

static void close_pair(SSL *client, SSL *server) {
    /* Without this a session can't be resumed. */
    SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_set_shutdown(server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(client);
    SSL_free(server);
}

/* That many handshakes; gives how many came out as wanted. */
long reference_tls_handshakes(long count, int resumed) {
    long good = 0;
    for (long round = 0; round < count; round++) {
        SSL *client, *server;
        SSL_SESSION *session = resumed ? newest : NULL;
        if (session != NULL) SSL_SESSION_up_ref(session);
        good += open_pair(&client, &server, session) && SSL_session_reused(client) == (resumed != 0);
        close_pair(client, server);
        SSL_SESSION_free(session);
    }
    return good;
}

/* That many records of 16,384 bytes from client to server; gives the bytes that arrived. */
long reference_tls_bulk(long count) {
    static SSL *client, *server;
    static char block[16384], target[16384];
    if (client == NULL && !open_pair(&client, &server, NULL)) return 0;
    long arrived = 0;
    for (long round = 0; round < count; round++) {
        if (SSL_write(client, block, sizeof block) <= 0) return arrived;
        for (size_t got = 0; got < sizeof block;) {
            int part = SSL_read(server, target, sizeof target);
            if (part <= 0) return arrived;
            got += (size_t)part;
            arrived += part;
        }
    }
    return arrived;
}
