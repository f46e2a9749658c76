// zlib, brotli and zstd without their headers: what a body is unpacked with, through one set of functions, and packed.
//
// Each library is loaded when it is first asked for, so Errand builds and starts on a machine that has none of them.
// Except on Linux this header is empty, for there URLSession unpacks.
#ifndef CDECODERS_H
#define CDECODERS_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// The formats.
enum : int32_t {
  CDECODER_GZIP = 0,    // RFC 1952, one member.
  CDECODER_ZLIB = 1,    // RFC 1950: the content coding "deflate".
  CDECODER_DEFLATE = 2, // RFC 1951: without a header or a check.
  CDECODER_BROTLI = 3,  // RFC 7932, windows of at most 16 MB.
  CDECODER_ZSTD = 4,    // RFC 8878, one frame; windows of at most 8 MB (RFC 9659).
};

// How far a step came.
enum : int32_t {
  CDECODER_GOES_ON = 0, // It needs more input, or more room.
  CDECODER_ENDED = 1,   // The member, stream or frame is whole; what was not taken is not part of it.
  CDECODER_DAMAGED = 2, // See cdecoder_problem.
  CDECODER_NO_MEMORY = 3,
};

typedef struct cdecoder cdecoder;

/// Whether the format's library is there, with all that is needed of it; from any thread.
int32_t cdecoder_is_available(int32_t format);

/// A decoder at its beginning; null where the library is not there, or no memory.
cdecoder *_Nullable cdecoder_create(int32_t format);
void cdecoder_free(cdecoder *decoder);
/// Begins anew, with the next member or frame. 0 where the library refuses.
int32_t cdecoder_restart(cdecoder *decoder);

/// Unpacks from `input` into `output`, as far as either lasts; says how much was taken and given.
int32_t cdecoder_run(
    cdecoder *decoder, const void *_Nullable input, size_t input_size, void *output, size_t output_size, size_t *taken,
    size_t *given);

/// The library's words for the damage; null where it has none.
const char *_Nullable cdecoder_problem(const cdecoder *decoder);

/// Whether all content of a gzip or zlib member was unpacked, although its check may be missing. Never for the other formats.
int32_t cdecoder_has_all_content(const cdecoder *decoder);

/// Packs one body as gzip.
typedef struct cpacker cpacker;

/// A packer at its beginning; null where zlib is not there, or no memory.
cpacker *_Nullable cpacker_create(void);
void cpacker_free(cpacker *packer);

/// Packs from `input` into `output`, as far as either lasts; says how much was taken and given. With `is_last` the input
/// ends with these bytes: to be called until it has ended.
int32_t cpacker_run(
    cpacker *packer, const void *_Nullable input, size_t input_size, int32_t is_last, void *output, size_t output_size,
    size_t *taken, size_t *given);

/// Compares the constants and structs used with the libraries' own headers, as far as they were found when this was
/// compiled. Returns how many were compared, and the name of the first that differs.
int32_t cdecoder_header_check(const char *_Nullable *_Nonnull first_difference);

#pragma clang assume_nonnull end

#endif
#endif
