#include "CDecoders.h"

#if defined(__linux__)

#include "CDecodersLayout.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

// Every function taken from each library.
#define ZLIB_SYMBOLS(X)                                                       \
  X(const char *, zlibVersion, (void))                                        \
  X(int, inflateInit2_, (struct cz_stream *, int, const char *, int))         \
  X(int, inflate, (struct cz_stream *, int))                                  \
  X(int, inflateReset, (struct cz_stream *))                                  \
  X(int, inflateEnd, (struct cz_stream *))                                    \
  X(int, deflateInit2_, (struct cz_stream *, int, int, int, int, int, const char *, int)) \
  X(int, deflate, (struct cz_stream *, int))                                  \
  X(int, deflateEnd, (struct cz_stream *))

#define BROTLI_SYMBOLS(X)                                                                                             \
  X(void *, BrotliDecoderCreateInstance, (void *(*)(void *, size_t), void (*)(void *, void *), void *))              \
  X(void, BrotliDecoderDestroyInstance, (void *))                                                                     \
  X(int, BrotliDecoderDecompressStream, (void *, size_t *, const uint8_t **, size_t *, uint8_t **, size_t *))        \
  X(int, BrotliDecoderGetErrorCode, (const void *))                                                                   \
  X(const char *, BrotliDecoderErrorString, (int))

#define ZSTD_SYMBOLS(X)                                                                   \
  X(void *, ZSTD_createDCtx, (void))                                                      \
  X(size_t, ZSTD_freeDCtx, (void *))                                                      \
  X(size_t, ZSTD_DCtx_setParameter, (void *, int, int))                                   \
  X(size_t, ZSTD_DCtx_reset, (void *, int))                                               \
  X(size_t, ZSTD_decompressStream, (void *, struct czstd_output *, struct czstd_input *)) \
  X(unsigned, ZSTD_isError, (size_t))                                                     \
  X(int, ZSTD_getErrorCode, (size_t))                                                     \
  X(const char *, ZSTD_getErrorName, (size_t))

// RFC 9659 §3: what a decoder of HTTP need not exceed, 8 MB.
static const int zstd_window_log = 23;

// Each filled once by load_once, read-only ever after.
#define FIELD(result, name, parameters) result(*name) parameters;
static struct {
  ZLIB_SYMBOLS(FIELD)
} zlib;
static struct {
  BROTLI_SYMBOLS(FIELD)
} brotli;
static struct {
  ZSTD_SYMBOLS(FIELD)
} zstd;
#undef FIELD

static int has_zlib, has_brotli, has_zstd;
static pthread_once_t load_guard = PTHREAD_ONCE_INIT;

struct cdecoder {
  int32_t format;
  const char *problem;
  int32_t has_all_content;  // See cdecoder_has_all_content.
  struct cz_stream stream;  // zlib's state points back to it: it must not move.
  void *state;              // brotli's or zstd's.
};

// MARK: Loading

#define RESOLVE(result, name, parameters)                         \
  table->name = (__typeof__(table->name))dlsym(library, #name);   \
  if (table->name == NULL) return 0;

static int load_zlib(void) {
  // Local and never closed, as libcurl is.
  void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 0;
  __typeof__(&zlib) table = &zlib;
  ZLIB_SYMBOLS(RESOLVE)
  return 1;
}

static int load_brotli(void) {
  void *library = dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 0;
  __typeof__(&brotli) table = &brotli;
  BROTLI_SYMBOLS(RESOLVE)
  return 1;
}

static int load_zstd(void) {
  void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 0;
  __typeof__(&zstd) table = &zstd;
  ZSTD_SYMBOLS(RESOLVE)
  return 1;
}

static void load_once(void) {
  has_zlib = load_zlib();
  has_brotli = load_brotli();
  has_zstd = load_zstd();
}

int32_t cdecoder_is_available(int32_t format) {
  pthread_once(&load_guard, load_once);
  switch (format) {
    case CDECODER_GZIP:
    case CDECODER_ZLIB:
    case CDECODER_DEFLATE: return has_zlib;
    case CDECODER_BROTLI: return has_brotli;
    case CDECODER_ZSTD: return has_zstd;
    default: return 0;
  }
}

// MARK: zlib

static int create_zlib(cdecoder *decoder) {
  // 16 more is gzip alone, less than nothing is without header and check.
  int bits = decoder->format == CDECODER_GZIP ? CZ_MAX_WBITS + 16 : CZ_MAX_WBITS;
  if (decoder->format == CDECODER_DEFLATE) bits = -CZ_MAX_WBITS;
  // The library compares its version with the one that its caller was built for, as far as the first number goes.
  return zlib.inflateInit2_(&decoder->stream, bits, zlib.zlibVersion(), sizeof(struct cz_stream)) == CZ_OK;
}

static int32_t run_zlib(
    cdecoder *decoder, const void *input, size_t input_size, void *output, size_t output_size, size_t *taken,
    size_t *given) {
  struct cz_stream *stream = &decoder->stream;
  unsigned int in = input_size < UINT_MAX ? (unsigned int)input_size : UINT_MAX;
  unsigned int out = output_size < UINT_MAX ? (unsigned int)output_size : UINT_MAX;
  stream->next_in = input;
  stream->avail_in = in;
  stream->next_out = output;
  stream->avail_out = out;
  // It stops between blocks, where it says whether the one before was the last; only then the content is known to be complete.
  int code, is_between;
  do {
    code = zlib.inflate(stream, CZ_BLOCK);
    is_between = code == CZ_OK && (stream->data_type & CZ_BETWEEN_BLOCKS);
    if (is_between && (stream->data_type & CZ_IN_LAST_BLOCK)) decoder->has_all_content = 1;
  } while (code == CZ_OK && stream->avail_out > 0 && (stream->avail_in > 0 || is_between));
  *taken = in - stream->avail_in;
  *given = out - stream->avail_out;
  switch (code) {
    case CZ_OK:
    case CZ_BUF_ERROR: return CDECODER_GOES_ON;  // No room or no input, which is no error.
    case CZ_STREAM_END: return CDECODER_ENDED;
    case CZ_MEM_ERROR: return CDECODER_NO_MEMORY;
    case CZ_NEED_DICT: decoder->problem = "it needs a dictionary"; return CDECODER_DAMAGED;
    default: decoder->problem = stream->msg; return CDECODER_DAMAGED;
  }
}

// MARK: brotli

static int32_t run_brotli(
    cdecoder *decoder, const void *input, size_t input_size, void *output, size_t output_size, size_t *taken,
    size_t *given) {
  const uint8_t *next_in = input;
  uint8_t *next_out = output;
  size_t available_in = input_size, available_out = output_size;
  int result = brotli.BrotliDecoderDecompressStream(
      decoder->state, &available_in, &next_in, &available_out, &next_out, NULL);
  *taken = input_size - available_in;
  *given = output_size - available_out;
  if (result == CBR_RESULT_SUCCESS) return CDECODER_ENDED;
  if (result != CBR_RESULT_ERROR) return CDECODER_GOES_ON;
  int code = brotli.BrotliDecoderGetErrorCode(decoder->state);
  if (code <= CBR_ERROR_ALLOC_CONTEXT_MODES && code >= CBR_ERROR_ALLOC_BLOCK_TYPE_TREES) return CDECODER_NO_MEMORY;
  decoder->problem = brotli.BrotliDecoderErrorString(code);
  return CDECODER_DAMAGED;
}

// MARK: zstd

static int create_zstd(cdecoder *decoder) {
  decoder->state = zstd.ZSTD_createDCtx();
  if (decoder->state == NULL) return 0;
  return !zstd.ZSTD_isError(zstd.ZSTD_DCtx_setParameter(decoder->state, CZSTD_D_WINDOW_LOG_MAX, zstd_window_log));
}

static int32_t run_zstd(
    cdecoder *decoder, const void *input, size_t input_size, void *output, size_t output_size, size_t *taken,
    size_t *given) {
  struct czstd_input in = {input, input_size, 0};
  struct czstd_output out = {output, output_size, 0};
  size_t result = zstd.ZSTD_decompressStream(decoder->state, &out, &in);
  *taken = in.pos;
  *given = out.pos;
  if (result == 0) return CDECODER_ENDED;
  if (!zstd.ZSTD_isError(result)) return CDECODER_GOES_ON;
  if (zstd.ZSTD_getErrorCode(result) == CZSTD_ERROR_MEMORY_ALLOCATION) return CDECODER_NO_MEMORY;
  decoder->problem = zstd.ZSTD_getErrorName(result);
  return CDECODER_DAMAGED;
}

// MARK: Any of them

static int create(cdecoder *decoder) {
  switch (decoder->format) {
    case CDECODER_BROTLI:
      decoder->state = brotli.BrotliDecoderCreateInstance(NULL, NULL, NULL);
      return decoder->state != NULL;
    case CDECODER_ZSTD: return create_zstd(decoder);
    default: return create_zlib(decoder);
  }
}

cdecoder *cdecoder_create(int32_t format) {
  if (!cdecoder_is_available(format)) return NULL;
  cdecoder *decoder = calloc(1, sizeof(cdecoder));
  if (decoder == NULL) return NULL;
  decoder->format = format;
  if (create(decoder)) return decoder;
  cdecoder_free(decoder);
  return NULL;
}

void cdecoder_free(cdecoder *decoder) {
  switch (decoder->format) {
    case CDECODER_BROTLI:
      if (decoder->state != NULL) brotli.BrotliDecoderDestroyInstance(decoder->state);
      break;
    case CDECODER_ZSTD: zstd.ZSTD_freeDCtx(decoder->state); break;  // Of nothing it is nothing.
    default: zlib.inflateEnd(&decoder->stream);                     // As here.
  }
  free(decoder);
}

int32_t cdecoder_restart(cdecoder *decoder) {
  decoder->has_all_content = 0;
  switch (decoder->format) {
    case CDECODER_BROTLI: return 0;  // Its streams do not follow one another.
    case CDECODER_ZSTD: return !zstd.ZSTD_isError(zstd.ZSTD_DCtx_reset(decoder->state, CZSTD_RESET_SESSION_ONLY));
    default: return zlib.inflateReset(&decoder->stream) == CZ_OK;
  }
}

int32_t cdecoder_run(
    cdecoder *decoder, const void *input, size_t input_size, void *output, size_t output_size, size_t *taken,
    size_t *given) {
  switch (decoder->format) {
    case CDECODER_BROTLI: return run_brotli(decoder, input, input_size, output, output_size, taken, given);
    case CDECODER_ZSTD: return run_zstd(decoder, input, input_size, output, output_size, taken, given);
    default: return run_zlib(decoder, input, input_size, output, output_size, taken, given);
  }
}

const char *cdecoder_problem(const cdecoder *decoder) { return decoder->problem; }

int32_t cdecoder_has_all_content(const cdecoder *decoder) { return decoder->has_all_content; }

// MARK: Packing

struct cpacker {
  struct cz_stream stream;  // zlib's state points back to it: it must not move.
};

cpacker *cpacker_create(void) {
  if (!cdecoder_is_available(CDECODER_GZIP)) return NULL;
  cpacker *packer = calloc(1, sizeof(cpacker));
  if (packer == NULL) return NULL;
  int code = zlib.deflateInit2_(
      &packer->stream, CZ_DEFAULT_COMPRESSION, CZ_DEFLATED, CZ_MAX_WBITS + 16, CZ_DEFAULT_MEMORY, CZ_DEFAULT_STRATEGY,
      zlib.zlibVersion(), sizeof(struct cz_stream));
  if (code == CZ_OK) return packer;
  free(packer);
  return NULL;
}

void cpacker_free(cpacker *packer) {
  zlib.deflateEnd(&packer->stream);
  free(packer);
}

int32_t cpacker_run(
    cpacker *packer, const void *input, size_t input_size, int32_t is_last, void *output, size_t output_size,
    size_t *taken, size_t *given) {
  struct cz_stream *stream = &packer->stream;
  unsigned int in = input_size < UINT_MAX ? (unsigned int)input_size : UINT_MAX;
  unsigned int out = output_size < UINT_MAX ? (unsigned int)output_size : UINT_MAX;
  stream->next_in = input;
  stream->avail_in = in;
  stream->next_out = output;
  stream->avail_out = out;
  int code = zlib.deflate(stream, is_last && in == input_size ? CZ_FINISH : CZ_NO_FLUSH);
  *taken = in - stream->avail_in;
  *given = out - stream->avail_out;
  if (code == CZ_STREAM_END) return CDECODER_ENDED;
  return code == CZ_OK || code == CZ_BUF_ERROR ? CDECODER_GOES_ON : CDECODER_DAMAGED;
}

#endif
