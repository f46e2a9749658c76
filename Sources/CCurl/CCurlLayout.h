// The structs of libcurl that only the wrappers see.
#ifndef CCURL_LAYOUT_H
#define CCURL_LAYOUT_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

struct ccurl_easy;

struct ccurl_blob {
  void *data;
  size_t len;
  unsigned int flags;
};

struct ccurl_message {
  int32_t msg;
  struct ccurl_easy *easy_handle;
  union {
    void *whatever;
    int32_t result;
  } data;
};

struct ccurl_tls_session {
  int32_t backend;
  void *internals;
};

// The beginning of what curl_version_info points to; later fields depend on the library's age.
struct ccurl_version_data {
  int32_t age;
  const char *version;
  unsigned int version_num;
  const char *host;
  int features;
  const char *ssl_version;
};

#endif
#endif
