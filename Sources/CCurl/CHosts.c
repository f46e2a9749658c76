#include "CHosts.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

// IDN2_NONTRANSITIONAL of idn2.h. Without it "faß" would be looked up as "fass", which is another name (UTS 46 §4).
static const int nontransitional = 8;

// Filled once by load_once, read-only ever after.
static int (*to_ascii)(const char *, char **, int);
static void (*free_name)(void *);
static pthread_once_t load_guard = PTHREAD_ONCE_INIT;

static void load_once(void) {
  // Local and never closed, as libcurl is, which mostly has loaded it already.
  void *library = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  free_name = (__typeof__(free_name))dlsym(library, "idn2_free");
  if (free_name != NULL) to_ascii = (__typeof__(to_ascii))dlsym(library, "idn2_to_ascii_8z");
}

int32_t chosts_ascii(const char *name, char **ascii) {
  pthread_once(&load_guard, load_once);
  if (to_ascii == NULL) return CHOSTS_MISSING_LIBRARY;
  *ascii = NULL;
  return to_ascii(name, ascii, nontransitional) == 0 && *ascii != NULL ? CHOSTS_OK : CHOSTS_NO_NAME;
}

void chosts_free(char *ascii) { free_name(ascii); }

#endif
