// OpenSSL 3 as Swift sees it. No logic lives here: what stands below only gives a name and a type to macros, variadic
// functions and typed stacks, which Swift can't import.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/opensslv.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#if __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

#if OPENSSL_VERSION_MAJOR < 3
#error "OpenSSL 3 or newer is needed (apt install libssl-dev, brew install openssl@3)"
#endif

// Contexts and connections: all of these are macros around a control function.
static inline int copenssl_context_set_versions(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version) && SSL_CTX_set_max_proto_version(context, version);
}
static inline void copenssl_context_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }
// The options are 64-bit expressions, which Swift doesn't import.
static inline void copenssl_context_forbid_old_features(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
}
static inline void copenssl_context_set_read_ahead(SSL_CTX *context, int on) { SSL_CTX_set_read_ahead(context, on); }
static inline void copenssl_context_set_max_cert_list(SSL_CTX *context, long bytes) { SSL_CTX_set_max_cert_list(context, bytes); }
static inline void copenssl_context_set_session_cache_mode(SSL_CTX *context, long mode) { SSL_CTX_set_session_cache_mode(context, mode); }
static inline int copenssl_context_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}
static inline int copenssl_context_set_groups(SSL_CTX *context, const char *list) {
    return (int)SSL_CTX_set1_groups_list(context, list);
}
static inline const char *copenssl_negotiated_group(SSL *connection) {
    return OBJ_nid2sn((int)SSL_get_negotiated_group(connection));
}

// Input and output of our own.
static inline void copenssl_bio_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void copenssl_bio_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline long copenssl_bio_memory(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

// Typed stacks.
static inline int copenssl_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *copenssl_certificates_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline STACK_OF(X509) *copenssl_certificates_new(void) { return sk_X509_new_null(); }
static inline int copenssl_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return X509_add_cert(stack, certificate, X509_ADD_FLAG_UP_REF);
}
static inline void copenssl_certificates_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
static inline int copenssl_general_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline const GENERAL_NAME *copenssl_general_names_at(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}
// The text of a name of the kind "uniform resource identifier"; NULL for every other kind.
static inline const ASN1_STRING *copenssl_general_name_uri(const GENERAL_NAME *name) {
    return name->type == GEN_URI ? name->d.uniformResourceIdentifier : NULL;
}
static inline GENERAL_NAMES *copenssl_general_names_new(void) { return sk_GENERAL_NAME_new_null(); }
// Adds a name of the kind "uniform resource identifier"; 1 when that worked.
static inline int copenssl_general_names_push_uri(GENERAL_NAMES *names, const unsigned char *bytes, int length) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_IA5STRING *text = ASN1_IA5STRING_new();
    if (name != NULL && text != NULL && ASN1_STRING_set(text, bytes, length)) {
        GENERAL_NAME_set0_value(name, GEN_URI, text);
        if (sk_GENERAL_NAME_push(names, name) > 0) return 1;
    } else {
        ASN1_IA5STRING_free(text);
    }
    GENERAL_NAME_free(name);
    return 0;
}
static inline int copenssl_revoked_count(const STACK_OF(X509_REVOKED) *stack) { return sk_X509_REVOKED_num(stack); }
static inline X509_REVOKED *copenssl_revoked_at(const STACK_OF(X509_REVOKED) *stack, int index) {
    return sk_X509_REVOKED_value(stack, index);
}

// One line by RFC 2253, letters beyond ASCII left as they are.
static inline unsigned long copenssl_name_flags(void) { return XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB; }

// Keys: the generators are variadic.
static inline EVP_PKEY *copenssl_make_p256_key(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }

static inline void copenssl_free(void *memory) { OPENSSL_free(memory); }
// How many bytes a block from malloc has.
static inline size_t copenssl_allocated_size(void *memory) {
#if __APPLE__
    return malloc_size(memory);
#else
    return malloc_usable_size(memory);
#endif
}

#endif
