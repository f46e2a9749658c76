// libidn2 without its header: host names of any script in the form in which they are looked up.
//
// The library is loaded when the first such name comes, so Errand builds and starts on a machine that has none.
// Except on Linux this header is empty, for there Foundation knows that form.
#ifndef CHOSTS_H
#define CHOSTS_H
#if defined(__linux__)

#include <stdint.h>

#pragma clang assume_nonnull begin

enum : int32_t {
  CHOSTS_OK = 0,
  CHOSTS_MISSING_LIBRARY = 1,
  CHOSTS_NO_NAME = 2,
};

/// The ASCII form of a name in UTF-8 by UTS 46, not transitional, as browsers do it; free it with `chosts_free`.
int32_t chosts_ascii(const char *name, char *_Nullable *_Nonnull ascii);
void chosts_free(char *ascii);

#pragma clang assume_nonnull end

#endif
#endif
