// As much of a libcurl as is called before it is found to have no TLS. `.ci/bare` builds it.
#include <stddef.h>

struct version {
  int age;
  const char *version;
  unsigned int version_num;
  const char *host;
  int features;
  const char *ssl_version;
  long ssl_version_num;
  const char *libz_version;
  const char *const *protocols;
  const char *rest[16];
};

static const char *const protocols[] = {"http", NULL};

struct version *curl_version_info(int age) {
  static struct version version = {
      .age = 0, .version = "8.16.0", .version_num = 0x081000, .host = "none", .protocols = protocols};
  (void)age;
  return &version;
}

static char handle;

#define MAKES(name) void *name(void) { return &handle; }
MAKES(curl_easy_init)
MAKES(curl_multi_init)
MAKES(curl_url)
MAKES(curl_slist_append)

#define SUCCEEDS(name) int name(void) { return 0; }
SUCCEEDS(curl_global_init)
SUCCEEDS(curl_easy_setopt)
SUCCEEDS(curl_easy_pause)
SUCCEEDS(curl_multi_setopt)
SUCCEEDS(curl_multi_cleanup)
SUCCEEDS(curl_multi_add_handle)
SUCCEEDS(curl_multi_remove_handle)
SUCCEEDS(curl_multi_socket_action)
SUCCEEDS(curl_url_set)

// An error: nothing is known.
int curl_easy_getinfo(void) { return 4; }

#define NOTHING(name) void *name(void) { return NULL; }
NOTHING(curl_easy_strerror)
NOTHING(curl_multi_info_read)
NOTHING(curl_easy_cleanup)
NOTHING(curl_easy_reset)
NOTHING(curl_url_cleanup)
NOTHING(curl_slist_free_all)
