// The only file that sees libcurl's own header, and only where one is installed.
#include "CCurl.h"

#if defined(__linux__)

#include "CCurlLayout.h"

#if __has_include(<curl/curlver.h>)
#include <curl/curlver.h>
#endif

// An older header lacks some of the names, and ccurl_load refuses its library anyway.
#if defined(LIBCURL_VERSION_NUM) && LIBCURL_VERSION_NUM >= 0x075500

// A name that a later version advises against still has the number that is compared.
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

// Newer than the oldest version that is accepted, which ignores it.
#if LIBCURL_VERSION_NUM < 0x075700
#define CURLOPT_QUICK_EXIT 322
#endif

struct comparison {
  const char *name;
  int64_t ours, theirs;
};

#define CC(name, value) {"CURL" #name, value, (int64_t)(CURL##name)},
#define SIZE(ours, theirs) {"size of " #theirs, sizeof(ours), sizeof(theirs)},
#define FIELD(ours, theirs, field)                                                   \
  {"offset of " #theirs "." #field, offsetof(ours, field), offsetof(theirs, field)}, \
  {"size of " #theirs "." #field, sizeof(((ours *)0)->field), sizeof(((theirs *)0)->field)},
// Callbacks that take a handle or an enum are not here: a struct pointer for libcurl's void pointer and int32_t for
// its enums are passed alike, but are other types.
#define TYPE(ours, theirs) {"type of " #theirs, 1, __builtin_types_compatible_p(ours, theirs)},

static const struct comparison comparisons[] = {
#include "CCurlOptions.def"
#include "CCurlValues.def"

    SIZE(int32_t, CURLcode)
    SIZE(int32_t, CURLMcode)
    SIZE(int32_t, CURLoption)
    SIZE(int32_t, CURLMoption)
    SIZE(int32_t, CURLINFO)
    SIZE(int32_t, CURLversion)
    SIZE(int32_t, curl_infotype)
    SIZE(int32_t, curlsocktype)

    SIZE(ccurl_slist, struct curl_slist)
    FIELD(ccurl_slist, struct curl_slist, data)
    FIELD(ccurl_slist, struct curl_slist, next)

    SIZE(ccurl_certinfo, struct curl_certinfo)
    FIELD(ccurl_certinfo, struct curl_certinfo, num_of_certs)
    FIELD(ccurl_certinfo, struct curl_certinfo, certinfo)

    {"offset of struct curl_sockaddr.addr", sizeof(ccurl_sockaddr), offsetof(struct curl_sockaddr, addr)},
    {"offset of struct curl_sockaddr.family", offsetof(ccurl_sockaddr, family), offsetof(struct curl_sockaddr, family)},
    {"offset of struct curl_sockaddr.socktype", offsetof(ccurl_sockaddr, type), offsetof(struct curl_sockaddr, socktype)},
    {"offset of struct curl_sockaddr.protocol", offsetof(ccurl_sockaddr, protocol), offsetof(struct curl_sockaddr, protocol)},
    {"offset of struct curl_sockaddr.addrlen", offsetof(ccurl_sockaddr, size), offsetof(struct curl_sockaddr, addrlen)},

    SIZE(struct ccurl_blob, struct curl_blob)
    FIELD(struct ccurl_blob, struct curl_blob, data)
    FIELD(struct ccurl_blob, struct curl_blob, len)
    FIELD(struct ccurl_blob, struct curl_blob, flags)

    SIZE(struct ccurl_message, CURLMsg)
    FIELD(struct ccurl_message, CURLMsg, msg)
    FIELD(struct ccurl_message, CURLMsg, easy_handle)
    FIELD(struct ccurl_message, CURLMsg, data.result)

    FIELD(struct ccurl_version_data, curl_version_info_data, version)
    FIELD(struct ccurl_version_data, curl_version_info_data, version_num)
    FIELD(struct ccurl_version_data, curl_version_info_data, features)
    FIELD(struct ccurl_version_data, curl_version_info_data, ssl_version)

    TYPE(int64_t, curl_off_t)
    TYPE(int, curl_socket_t)
    TYPE(ccurl_data_function, curl_write_callback)
    TYPE(ccurl_data_function, curl_read_callback)
    TYPE(ccurl_seek_function, curl_seek_callback)
    TYPE(ccurl_prereq_function, curl_prereq_callback)
    TYPE(ccurl_xferinfo_function, curl_xferinfo_callback)
    TYPE(ccurl_resolver_start_function, curl_resolver_start_callback)
    TYPE(ccurl_closesocket_function, curl_closesocket_callback)
};

int32_t ccurl_header_check(const char **first_difference) {
  const int32_t count = sizeof(comparisons) / sizeof(comparisons[0]);
  *first_difference = NULL;
  for (int32_t index = 0; index < count && *first_difference == NULL; index++) {
    const struct comparison *pair = &comparisons[index];
    if (pair->ours != pair->theirs) *first_difference = pair->name;
  }
  return count;
}

#else

int32_t ccurl_header_check(const char **first_difference) {
  *first_difference = NULL;
  return 0;
}

#endif
#endif
