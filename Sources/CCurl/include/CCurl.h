// libcurl without its header: what the curl transport calls, each function with one exact type.
//
// The library is loaded when ccurl_load is called, so Errand builds and starts on a machine that has none. Names are
// libcurl's with `ccurl` for `curl` and `CC` for `CURL`; what they do is documented at https://curl.se/libcurl/c/.
// Except on Linux this header is empty, for there the transport is URLSession.
#ifndef CCURL_H
#define CCURL_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

// The numbers of libcurl, kept in two lists so that no constant can escape the comparison with the real header.
enum : int32_t {
#define CC(name, value) CC##name = value,
#include "CCurlOptions.def"
#include "CCurlValues.def"
#undef CC
};

#pragma clang assume_nonnull begin

// MARK: Loading

// What ccurl_load may return.
enum : int32_t {
  CCURL_LOADED = 0,
  CCURL_MISSING_LIBRARY = 1,
  CCURL_MISSING_SYMBOL = 2,
  CCURL_TOO_OLD = 3,  // Before 7.76.
  CCURL_INIT_FAILED = 4,
};

/// Loads libcurl.so.4 and initialises it. Call it before anything else here, from any thread; the first call decides,
/// later ones repeat its answer. Unless that is CCURL_LOADED, call nothing more but the four that describe the library
/// and those of header lists.
int32_t ccurl_load(void);

/// "7.88.1", also of a library that is too old; null where there is none.
const char *_Nullable ccurl_version(void);
/// 0x075801 for 7.88.1; 0 where there is none.
uint32_t ccurl_version_number(void);
/// CC_VERSION_… bits; 0 where there is no library.
int32_t ccurl_features(void);
/// "OpenSSL/3.0.17"; null where there is no library, or one without TLS.
const char *_Nullable ccurl_ssl_version(void);

// MARK: Types

typedef struct ccurl_easy ccurl_easy;
typedef struct ccurl_multi ccurl_multi;
typedef struct ccurl_url ccurl_url;

typedef struct ccurl_slist {
  char *_Nullable data;
  struct ccurl_slist *_Nullable next;
} ccurl_slist;

/// Of each certificate, the server's own first, a list of "name:value".
typedef struct ccurl_certinfo {
  int num_of_certs;
  ccurl_slist *_Nullable *_Nullable certinfo;
} ccurl_certinfo;

/// What a socket is to be made of; the address follows at once.
typedef struct ccurl_sockaddr {
  int family;
  int type;
  int protocol;
  unsigned int size;
} ccurl_sockaddr;

/// Receives a piece of the body or one header line, or fills a buffer with a piece of the upload.
typedef size_t (*ccurl_data_function)(char *bytes, size_t size, size_t count, void *_Nullable data);
typedef int (*ccurl_seek_function)(void *_Nullable data, int64_t offset, int origin);
/// Called when the connection stands, before the request is written: once for every go of an exchange.
typedef int (*ccurl_prereq_function)(
    void *_Nullable data, char *remote_address, char *local_address, int remote_port, int local_port);
/// Called whenever something may have moved, with numbers of bytes.
typedef int (*ccurl_xferinfo_function)(
    void *_Nullable data, int64_t to_come, int64_t came, int64_t to_send, int64_t sent);
/// Called before a name is looked up. What it is given first is the resolver's own.
typedef int (*ccurl_resolver_start_function)(
    void *_Nullable resolver, void *_Nullable reserved, void *_Nullable data);
typedef int (*ccurl_sockopt_function)(void *_Nullable data, int descriptor, int32_t purpose);
/// Returns a descriptor, or CC_SOCKET_BAD. What it is given last is a ccurl_sockaddr.
typedef int (*ccurl_opensocket_function)(void *_Nullable data, int32_t purpose, void *_Nullable address);
typedef int (*ccurl_closesocket_function)(void *_Nullable data, int descriptor);
/// Called when the body has ended; appends to the list, which libcurl frees.
typedef int (*ccurl_trailer_function)(ccurl_slist *_Nullable *_Nonnull list, void *_Nullable data);
/// `kind` is CCINFO_TEXT, CCINFO_HEADER_IN, …; the bytes do not end in NUL.
typedef int (*ccurl_debug_function)(
    ccurl_easy *easy, int32_t kind, char *bytes, size_t size, void *_Nullable data);

/// `interest` is CC_POLL_…; nothing is ever assigned to a descriptor.
typedef int (*ccurl_socket_function)(
    ccurl_easy *easy, int descriptor, int interest, void *_Nullable data, void *_Nullable assigned);
/// -1 removes the timer, 0 is now.
typedef int (*ccurl_timer_function)(ccurl_multi *multi, long milliseconds, void *_Nullable data);

// MARK: Easy handles

ccurl_easy *_Nullable ccurl_easy_init(void);
void ccurl_easy_cleanup(ccurl_easy *easy);
/// Forgets every option; connections, sessions and the DNS cache stay.
void ccurl_easy_reset(ccurl_easy *easy);
/// `directions` is CCPAUSE_…; unpausing may call the write callback before it returns.
int32_t ccurl_easy_pause(ccurl_easy *easy, int32_t directions);
const char *ccurl_easy_strerror(int32_t code);

// MARK: Options; each returns a CCE_… code

int32_t ccurl_easy_set_long(ccurl_easy *easy, int32_t option, long value);
int32_t ccurl_easy_set_off(ccurl_easy *easy, int32_t option, int64_t value);
/// Copies the string; null takes the option back.
int32_t ccurl_easy_set_string(ccurl_easy *easy, int32_t option, const char *_Nullable value);
/// Keeps the pointer only (POSTFIELDS, PRIVATE, ERRORBUFFER, …DATA): it must outlive the transfer.
int32_t ccurl_easy_set_pointer(ccurl_easy *easy, int32_t option, const void *_Nullable value);
/// Keeps the pointer only: the list must outlive the transfer.
int32_t ccurl_easy_set_slist(ccurl_easy *easy, int32_t option, const ccurl_slist *_Nullable list);
/// Copies the bytes.
int32_t ccurl_easy_set_blob(ccurl_easy *easy, int32_t option, const void *bytes, size_t size);

// Each sets a callback together with the pointer it is given; null takes it back. Only the pointer is kept.
int32_t ccurl_easy_set_write(ccurl_easy *easy, ccurl_data_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_header(ccurl_easy *easy, ccurl_data_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_read(ccurl_easy *easy, ccurl_data_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_seek(ccurl_easy *easy, ccurl_seek_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_prereq(ccurl_easy *easy, ccurl_prereq_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_xferinfo(ccurl_easy *easy, ccurl_xferinfo_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_resolver_start(
    ccurl_easy *easy, ccurl_resolver_start_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_sockopt(ccurl_easy *easy, ccurl_sockopt_function _Nullable function, void *_Nullable data);
int32_t ccurl_easy_set_opensocket(ccurl_easy *easy, ccurl_opensocket_function _Nullable function, void *_Nullable data);
/// The pointer must outlive the connection, hence the multi: an idle connection is closed long after its transfer.
int32_t ccurl_easy_set_closesocket(
    ccurl_easy *easy, ccurl_closesocket_function _Nullable function, void *_Nullable data);
/// Called for bodies that go in chunks over HTTP/1.1, and for no others.
int32_t ccurl_easy_set_trailer(ccurl_easy *easy, ccurl_trailer_function _Nullable function, void *_Nullable data);
/// Called only while CCOPT_VERBOSE is 1.
int32_t ccurl_easy_set_debug(ccurl_easy *easy, ccurl_debug_function _Nullable function, void *_Nullable data);

// MARK: Questions; each returns a CCE_… code and writes only on CCE_OK

int32_t ccurl_easy_get_long(ccurl_easy *easy, int32_t info, long *value);
/// For the infos whose name ends in _T.
int32_t ccurl_easy_get_off(ccurl_easy *easy, int32_t info, int64_t *value);
/// The string is libcurl's and lives until the handle's next transfer.
int32_t ccurl_easy_get_string(ccurl_easy *easy, int32_t info, const char *_Nullable *_Nonnull value);
/// For CCINFO_PRIVATE.
int32_t ccurl_easy_get_pointer(ccurl_easy *easy, int32_t info, void *_Nullable *_Nonnull value);
/// CCINFO_CERTINFO, filled while CCOPT_CERTINFO is 1; lives as long as the strings above.
int32_t ccurl_easy_get_certinfo(ccurl_easy *easy, const ccurl_certinfo *_Nullable *_Nonnull value);

/// 1 where the functions of OpenSSL that libcurl uses can be had, 0 with another library or one whose names are hidden.
int ccurl_shows_tls(void);
/// 1 where bytes of the transfer's connection lie in OpenSSL and were not read, decrypted or not: newer libcurls have it read
/// ahead. 0 where none do, or it has no TLS; -1 where that cannot be told: with another library, or one whose names are hidden.
int ccurl_easy_tls_pending(ccurl_easy *easy);
/// 1 where the transfer's connection goes over OpenSSL and no alert has closed it (RFC 8446 §6.1), 0 otherwise.
int ccurl_easy_tls_lacks_end(ccurl_easy *easy);

// MARK: Multi handles; those that return a number return a CCM_… code

ccurl_multi *_Nullable ccurl_multi_init(void);
/// Every easy handle must have been removed.
int32_t ccurl_multi_cleanup(ccurl_multi *multi);
int32_t ccurl_multi_add_handle(ccurl_multi *multi, ccurl_easy *easy);
int32_t ccurl_multi_remove_handle(ccurl_multi *multi, ccurl_easy *easy);
/// `events` is CC_CSELECT_… bits; the descriptor CC_SOCKET_TIMEOUT says that the timer ran out.
int32_t ccurl_multi_socket_action(ccurl_multi *multi, int descriptor, int events, int *running);
/// Takes the next finished transfer: 1 with its handle and CCE_… result, 0 when there is none. The handle is still in
/// the multi. `remaining` counts the messages after this one.
int ccurl_multi_next_done(
    ccurl_multi *multi, ccurl_easy *_Nullable *_Nonnull easy, int32_t *result, int *remaining);
int32_t ccurl_multi_set_long(ccurl_multi *multi, int32_t option, long value);
int32_t ccurl_multi_set_socket(ccurl_multi *multi, ccurl_socket_function _Nullable function, void *_Nullable data);
int32_t ccurl_multi_set_timer(ccurl_multi *multi, ccurl_timer_function _Nullable function, void *_Nullable data);

// MARK: URLs

ccurl_url *_Nullable ccurl_url_init(void);
void ccurl_url_cleanup(ccurl_url *url);
/// Reads a whole URL, in the place of what was read before; 0 where it is one. Its path stays as it is.
int32_t ccurl_url_parse(ccurl_url *url, const char *text);

// MARK: Lists

/// Copies the string and returns the head of the list, or null when out of memory, with the list as it was.
ccurl_slist *_Nullable ccurl_slist_append(ccurl_slist *_Nullable list, const char *string);
void ccurl_slist_free(ccurl_slist *_Nullable list);

/// Makes a list of lines that each end in NUL, nodes and text in one allocation. Bytes after the last NUL are left
/// out. Null when there is no line, or no memory. Not for ccurl_slist_append or ccurl_slist_free.
ccurl_slist *_Nullable ccurl_header_list(const char *_Nullable block, size_t size);
void ccurl_header_list_free(ccurl_slist *_Nullable list);

// MARK: Files

/// A descriptor of a file that has these bytes and no name, closed in child processes; -1 where there can be none.
int ccurl_memory_file(const void *_Nullable bytes, size_t size);

// MARK: The check

/// Compares the constants, structs and callback types above with <curl/curl.h>, as found when this was compiled.
/// Returns how many were compared, 0 without a header of 7.85 or later, and the name of the first that differs.
int32_t ccurl_header_check(const char *_Nullable *_Nonnull first_difference);

#pragma clang assume_nonnull end

#endif
#endif
