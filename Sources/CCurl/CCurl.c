#include "CCurl.h"

#if defined(__linux__)

#include "CCurlLayout.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// 7.76.0: what is newer has another in its place, or is not needed.
static const unsigned int oldest_version = 0x074c00;

// Every function taken from the library. The variadic ones keep their dots: where variadic arguments travel otherwise
// than named ones, calling them by a narrower type would misplace the value.
#define SYMBOLS(X)                                                        \
  X(int32_t, global_init, (long))                                         \
  X(const struct ccurl_version_data *, version_info, (int32_t))           \
  X(ccurl_easy *, easy_init, (void))                                      \
  X(void, easy_cleanup, (ccurl_easy *))                                   \
  X(void, easy_reset, (ccurl_easy *))                                     \
  X(int32_t, easy_pause, (ccurl_easy *, int))                             \
  X(const char *, easy_strerror, (int32_t))                               \
  X(int32_t, easy_setopt, (ccurl_easy *, int32_t, ...))                   \
  X(int32_t, easy_getinfo, (ccurl_easy *, int32_t, ...))                  \
  X(ccurl_multi *, multi_init, (void))                                    \
  X(int32_t, multi_cleanup, (ccurl_multi *))                              \
  X(int32_t, multi_add_handle, (ccurl_multi *, ccurl_easy *))             \
  X(int32_t, multi_remove_handle, (ccurl_multi *, ccurl_easy *))          \
  X(int32_t, multi_socket_action, (ccurl_multi *, int, int, int *))       \
  X(struct ccurl_message *, multi_info_read, (ccurl_multi *, int *))      \
  X(int32_t, multi_setopt, (ccurl_multi *, int32_t, ...))                 \
  X(ccurl_url *, url, (void))                                             \
  X(void, url_cleanup, (ccurl_url *))                                     \
  X(int32_t, url_set, (ccurl_url *, int32_t, const char *, unsigned int)) \
  X(ccurl_slist *, slist_append, (ccurl_slist *, const char *))           \
  X(void, slist_free_all, (ccurl_slist *))

// Filled once by load_once, read-only ever after.
static struct {
#define FIELD(result, name, parameters) result(*name) parameters;
  SYMBOLS(FIELD)
#undef FIELD
} curl;

#ifdef ERRAND_LINKED_CURL
#define DECLARE(result, name, parameters) extern result curl_##name parameters;
SYMBOLS(DECLARE)
#undef DECLARE
// Null where libcurl was linked with another library than OpenSSL.
extern int SSL_has_pending(const void *) __attribute__((weak));
extern int SSL_get_shutdown(const void *) __attribute__((weak));
#endif

// OpenSSL's, by way of libcurl; null where that uses another library.
static int (*ssl_has_pending)(const void *);
static int (*ssl_get_shutdown)(const void *);

static const struct ccurl_version_data *version_data;
static int32_t load_outcome;
static pthread_once_t load_guard = PTHREAD_ONCE_INIT;

// MARK: Loading

#ifdef ERRAND_LINKED_CURL

static int32_t resolve(void) {
#define RESOLVE(result, name, parameters) curl.name = curl_##name;
  SYMBOLS(RESOLVE)
#undef RESOLVE
  ssl_has_pending = SSL_has_pending;
  ssl_get_shutdown = SSL_get_shutdown;
  return CCURL_LOADED;
}

#else

static int32_t resolve_symbols(void *library) {
#define RESOLVE(result, name, parameters)                           \
  curl.name = (__typeof__(curl.name))dlsym(library, "curl_" #name); \
  if (curl.name == NULL) return CCURL_MISSING_SYMBOL;
  SYMBOLS(RESOLVE)
#undef RESOLVE
  return CCURL_LOADED;
}

static int32_t resolve(void) {
  // Local, so that a libcurl which the program itself is linked with keeps its own symbols. Never closed: it has
  // threads and exit handlers (OpenSSL's) that unloading would pull the ground from under.
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return CCURL_MISSING_LIBRARY;
  ssl_has_pending = (__typeof__(ssl_has_pending))dlsym(library, "SSL_has_pending");
  ssl_get_shutdown = (__typeof__(ssl_get_shutdown))dlsym(library, "SSL_get_shutdown");
  return resolve_symbols(library);
}

#endif

static int32_t load(void) {
  int32_t resolved = resolve();
  if (resolved != CCURL_LOADED) return resolved;
  version_data = curl.version_info(0);
  if (version_data->version_num < oldest_version) return CCURL_TOO_OLD;
  if (curl.global_init(CC_GLOBAL_ALL) != CCE_OK) return CCURL_INIT_FAILED;
  return CCURL_LOADED;
}

static void load_once(void) { load_outcome = load(); }

int32_t ccurl_load(void) {
  pthread_once(&load_guard, load_once);
  return load_outcome;
}

const char *ccurl_version(void) { return version_data ? version_data->version : NULL; }
uint32_t ccurl_version_number(void) { return version_data ? version_data->version_num : 0; }
int32_t ccurl_features(void) { return version_data ? version_data->features : 0; }
const char *ccurl_ssl_version(void) { return version_data ? version_data->ssl_version : NULL; }

// MARK: Easy handles

ccurl_easy *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_cleanup(ccurl_easy *easy) { curl.easy_cleanup(easy); }
void ccurl_easy_reset(ccurl_easy *easy) { curl.easy_reset(easy); }
int32_t ccurl_easy_pause(ccurl_easy *easy, int32_t directions) { return curl.easy_pause(easy, directions); }
const char *ccurl_easy_strerror(int32_t code) { return curl.easy_strerror(code); }

// MARK: Options

int32_t ccurl_easy_set_long(ccurl_easy *easy, int32_t option, long value) {
  return curl.easy_setopt(easy, option, value);
}

int32_t ccurl_easy_set_off(ccurl_easy *easy, int32_t option, int64_t value) {
  return curl.easy_setopt(easy, option, value);
}

int32_t ccurl_easy_set_string(ccurl_easy *easy, int32_t option, const char *value) {
  return curl.easy_setopt(easy, option, value);
}

int32_t ccurl_easy_set_pointer(ccurl_easy *easy, int32_t option, const void *value) {
  return curl.easy_setopt(easy, option, value);
}

int32_t ccurl_easy_set_slist(ccurl_easy *easy, int32_t option, const ccurl_slist *list) {
  return curl.easy_setopt(easy, option, list);
}

int32_t ccurl_easy_set_blob(ccurl_easy *easy, int32_t option, const void *bytes, size_t size) {
  // libcurl's struct has no const, but with COPY it only reads.
  struct ccurl_blob blob = {(void *)bytes, size, CC_BLOB_COPY};
  return curl.easy_setopt(easy, option, &blob);
}

// A setter of a callback and its pointer. The function goes through the dots uncast, as the type libcurl takes out.
#define CALLBACK_SETTER(name, type, option)                                            \
  int32_t ccurl_easy_set_##name(ccurl_easy *easy, type function, void *data) {         \
    int32_t code = curl.easy_setopt(easy, CCOPT_##option##FUNCTION, function);         \
    return code != CCE_OK ? code : curl.easy_setopt(easy, CCOPT_##option##DATA, data); \
  }

CALLBACK_SETTER(write, ccurl_data_function, WRITE)
CALLBACK_SETTER(header, ccurl_data_function, HEADER)
CALLBACK_SETTER(read, ccurl_data_function, READ)
CALLBACK_SETTER(seek, ccurl_seek_function, SEEK)
CALLBACK_SETTER(prereq, ccurl_prereq_function, PREREQ)
CALLBACK_SETTER(xferinfo, ccurl_xferinfo_function, XFERINFO)
CALLBACK_SETTER(resolver_start, ccurl_resolver_start_function, RESOLVER_START_)
CALLBACK_SETTER(sockopt, ccurl_sockopt_function, SOCKOPT)
CALLBACK_SETTER(opensocket, ccurl_opensocket_function, OPENSOCKET)
CALLBACK_SETTER(closesocket, ccurl_closesocket_function, CLOSESOCKET)
CALLBACK_SETTER(trailer, ccurl_trailer_function, TRAILER)
CALLBACK_SETTER(debug, ccurl_debug_function, DEBUG)

// MARK: Questions

int32_t ccurl_easy_get_long(ccurl_easy *easy, int32_t info, long *value) {
  return curl.easy_getinfo(easy, info, value);
}

int32_t ccurl_easy_get_off(ccurl_easy *easy, int32_t info, int64_t *value) {
  return curl.easy_getinfo(easy, info, value);
}

int32_t ccurl_easy_get_string(ccurl_easy *easy, int32_t info, const char **value) {
  return curl.easy_getinfo(easy, info, value);
}

int32_t ccurl_easy_get_pointer(ccurl_easy *easy, int32_t info, void **value) {
  return curl.easy_getinfo(easy, info, value);
}

int32_t ccurl_easy_get_certinfo(ccurl_easy *easy, const ccurl_certinfo **value) {
  return curl.easy_getinfo(easy, CCINFO_CERTINFO, value);
}

// The TLS session of a transfer's connection; null where there is none.
static const struct ccurl_tls_session *tls_session(ccurl_easy *easy) {
  struct ccurl_tls_session *session = NULL;
  if (curl.easy_getinfo(easy, CCINFO_TLS_SSL_PTR, &session) != CCE_OK || session == NULL) return NULL;
  return session->internals == NULL ? NULL : session;
}

int ccurl_shows_tls(void) { return ssl_has_pending != NULL && ssl_get_shutdown != NULL; }

int ccurl_easy_tls_pending(ccurl_easy *easy) {
  const struct ccurl_tls_session *session = tls_session(easy);
  if (session == NULL) return 0;
  if (ssl_has_pending == NULL || session->backend != CCSSLBACKEND_OPENSSL) return -1;
  return ssl_has_pending(session->internals);
}

int ccurl_easy_tls_lacks_end(ccurl_easy *easy) {
  const struct ccurl_tls_session *session = ssl_get_shutdown == NULL ? NULL : tls_session(easy);
  if (session == NULL || session->backend != CCSSLBACKEND_OPENSSL) return 0;
  return (ssl_get_shutdown(session->internals) & 2) == 0;  // SSL_RECEIVED_SHUTDOWN
}

// MARK: Multi handles

ccurl_multi *ccurl_multi_init(void) { return curl.multi_init(); }
int32_t ccurl_multi_cleanup(ccurl_multi *multi) { return curl.multi_cleanup(multi); }

int32_t ccurl_multi_add_handle(ccurl_multi *multi, ccurl_easy *easy) {
  return curl.multi_add_handle(multi, easy);
}

int32_t ccurl_multi_remove_handle(ccurl_multi *multi, ccurl_easy *easy) {
  return curl.multi_remove_handle(multi, easy);
}

int32_t ccurl_multi_socket_action(ccurl_multi *multi, int descriptor, int events, int *running) {
  return curl.multi_socket_action(multi, descriptor, events, running);
}

int ccurl_multi_next_done(ccurl_multi *multi, ccurl_easy **easy, int32_t *result, int *remaining) {
  const struct ccurl_message *message;
  while ((message = curl.multi_info_read(multi, remaining)) != NULL) {
    // DONE is the only message there is today; another kind would carry no result.
    if (message->msg != CCMSG_DONE) continue;
    *easy = message->easy_handle;
    *result = message->data.result;
    return 1;
  }
  return 0;
}

int32_t ccurl_multi_set_long(ccurl_multi *multi, int32_t option, long value) {
  return curl.multi_setopt(multi, option, value);
}

int32_t ccurl_multi_set_socket(ccurl_multi *multi, ccurl_socket_function function, void *data) {
  int32_t code = curl.multi_setopt(multi, CCMOPT_SOCKETFUNCTION, function);
  return code != CCM_OK ? code : curl.multi_setopt(multi, CCMOPT_SOCKETDATA, data);
}

int32_t ccurl_multi_set_timer(ccurl_multi *multi, ccurl_timer_function function, void *data) {
  int32_t code = curl.multi_setopt(multi, CCMOPT_TIMERFUNCTION, function);
  return code != CCM_OK ? code : curl.multi_setopt(multi, CCMOPT_TIMERDATA, data);
}

// MARK: URLs

ccurl_url *ccurl_url_init(void) { return curl.url(); }
void ccurl_url_cleanup(ccurl_url *url) { curl.url_cleanup(url); }

int32_t ccurl_url_parse(ccurl_url *url, const char *text) {
  return curl.url_set(url, CCUPART_URL, text, CCU_PATH_AS_IS | CCU_NON_SUPPORT_SCHEME);
}

// MARK: Lists

ccurl_slist *ccurl_slist_append(ccurl_slist *list, const char *string) { return curl.slist_append(list, string); }
void ccurl_slist_free(ccurl_slist *list) { curl.slist_free_all(list); }

static size_t count_lines(const char *block, size_t size) {
  size_t count = 0;
  for (size_t index = 0; index < size; index++) count += block[index] == '\0';
  return count;
}

ccurl_slist *ccurl_header_list(const char *block, size_t size) {
  size_t count = count_lines(block, size);
  if (count == 0) return NULL;
  // Nodes first, for they are the ones that need alignment; the text follows them.
  ccurl_slist *nodes = malloc(count * sizeof(ccurl_slist) + size);
  if (nodes == NULL) return NULL;
  char *line = memcpy(nodes + count, block, size);
  for (size_t index = 0; index < count; index++) {
    nodes[index].data = line;
    nodes[index].next = index + 1 < count ? &nodes[index + 1] : NULL;
    line += strlen(line) + 1;
  }
  return nodes;
}

void ccurl_header_list_free(ccurl_slist *list) { free(list); }

// MARK: Files

int ccurl_memory_file(const void *bytes, size_t size) {
  // Musl and older C libraries lack the function. 1 is CLOEXEC.
  int descriptor = (int)syscall(SYS_memfd_create, "errand", 1u);
  if (descriptor < 0) return -1;
  for (size_t done = 0; done < size;) {
    ssize_t count = write(descriptor, (const char *)bytes + done, size - done);
    if (count <= 0) {
      close(descriptor);
      return -1;
    }
    done += (size_t)count;
  }
  return descriptor;
}

#endif
