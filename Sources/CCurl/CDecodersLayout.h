// The structs and numbers of zlib, brotli and zstd that only the wrappers see.
#ifndef CDECODERS_LAYOUT_H
#define CDECODERS_LAYOUT_H
#if defined(__linux__)

#include <stddef.h>
#include <stdint.h>

// zlib's state as the caller sees it; the same to pack and to unpack.
struct cz_stream {
  const uint8_t *next_in;
  unsigned int avail_in;
  unsigned long total_in;
  uint8_t *next_out;
  unsigned int avail_out;
  unsigned long total_out;
  const char *msg;
  void *state;
  void *(*zalloc)(void *, unsigned int, unsigned int);
  void (*zfree)(void *, void *);
  void *opaque;
  int data_type;
  unsigned long adler;
  unsigned long reserved;
};

// What a call of zlib returns, and how it is asked to go on.
enum : int32_t {
  CZ_NO_FLUSH = 0,
  CZ_BLOCK = 5,
  CZ_OK = 0,
  CZ_STREAM_END = 1,
  CZ_NEED_DICT = 2,
  CZ_STREAM_ERROR = -2,
  CZ_DATA_ERROR = -3,
  CZ_MEM_ERROR = -4,
  CZ_BUF_ERROR = -5,
  CZ_MAX_WBITS = 15,
  CZ_FINISH = 4,
  CZ_DEFLATED = 8,
  CZ_DEFAULT_COMPRESSION = -1,
  CZ_DEFAULT_MEMORY = 8,
  CZ_DEFAULT_STRATEGY = 0,
};

// What zlib says in `data_type` after each call: it has read the last block's header, and it is between two blocks.
enum : int32_t {
  CZ_IN_LAST_BLOCK = 64,
  CZ_BETWEEN_BLOCKS = 128,
};

// What brotli's decoder returns; its errors of memory are those between two numbers.
enum : int32_t {
  CBR_RESULT_ERROR = 0,
  CBR_RESULT_SUCCESS = 1,
  CBR_RESULT_NEEDS_MORE_INPUT = 2,
  CBR_RESULT_NEEDS_MORE_OUTPUT = 3,
  CBR_ERROR_ALLOC_CONTEXT_MODES = -21,
  CBR_ERROR_ALLOC_BLOCK_TYPE_TREES = -30,
};

// The buffers of a step of zstd.
struct czstd_input {
  const void *src;
  size_t size;
  size_t pos;
};

struct czstd_output {
  void *dst;
  size_t size;
  size_t pos;
};

enum : int32_t {
  CZSTD_RESET_SESSION_ONLY = 1,
  CZSTD_D_WINDOW_LOG_MAX = 100,
  CZSTD_ERROR_MEMORY_ALLOCATION = 64,
};

#endif
#endif
