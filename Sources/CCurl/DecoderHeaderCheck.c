// The only file that sees the headers of zlib, brotli and zstd, and only where they are installed.
#include "CDecoders.h"

#if defined(__linux__)

#include "CDecodersLayout.h"

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif
#if __has_include(<brotli/decode.h>)
#include <brotli/decode.h>
#endif
#if __has_include(<zstd.h>) && __has_include(<zstd_errors.h>)
#include <zstd.h>
#include <zstd_errors.h>
#endif

struct comparison {
  const char *name;
  int64_t ours, theirs;
};

#define VALUE(ours, theirs) {#theirs, ours, (int64_t)(theirs)},
#define SIZE(ours, theirs) {"size of " #theirs, sizeof(ours), sizeof(theirs)},
#define FIELD(ours, theirs, field)                                                   \
  {"offset of " #theirs "." #field, offsetof(ours, field), offsetof(theirs, field)}, \
  {"size of " #theirs "." #field, sizeof(((ours *)0)->field), sizeof(((theirs *)0)->field)},

static const struct comparison comparisons[] = {
    {"", 0, 0},
#if defined(ZLIB_VERSION)
    SIZE(struct cz_stream, z_stream)
    FIELD(struct cz_stream, z_stream, next_in)
    FIELD(struct cz_stream, z_stream, avail_in)
    FIELD(struct cz_stream, z_stream, next_out)
    FIELD(struct cz_stream, z_stream, avail_out)
    FIELD(struct cz_stream, z_stream, msg)
    FIELD(struct cz_stream, z_stream, state)
    FIELD(struct cz_stream, z_stream, zalloc)
    FIELD(struct cz_stream, z_stream, zfree)
    FIELD(struct cz_stream, z_stream, opaque)
    FIELD(struct cz_stream, z_stream, adler)
    FIELD(struct cz_stream, z_stream, data_type)
    VALUE(CZ_NO_FLUSH, Z_NO_FLUSH)
    VALUE(CZ_BLOCK, Z_BLOCK)
    VALUE(CZ_OK, Z_OK)
    VALUE(CZ_STREAM_END, Z_STREAM_END)
    VALUE(CZ_NEED_DICT, Z_NEED_DICT)
    VALUE(CZ_STREAM_ERROR, Z_STREAM_ERROR)
    VALUE(CZ_DATA_ERROR, Z_DATA_ERROR)
    VALUE(CZ_MEM_ERROR, Z_MEM_ERROR)
    VALUE(CZ_BUF_ERROR, Z_BUF_ERROR)
    VALUE(CZ_MAX_WBITS, MAX_WBITS)
    VALUE(CZ_FINISH, Z_FINISH)
    VALUE(CZ_DEFLATED, Z_DEFLATED)
    VALUE(CZ_DEFAULT_COMPRESSION, Z_DEFAULT_COMPRESSION)
    VALUE(CZ_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY)
#endif
#if defined(BROTLI_DEC_DECODE_H_)
    VALUE(CBR_RESULT_ERROR, BROTLI_DECODER_RESULT_ERROR)
    VALUE(CBR_RESULT_SUCCESS, BROTLI_DECODER_RESULT_SUCCESS)
    VALUE(CBR_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT)
    VALUE(CBR_RESULT_NEEDS_MORE_OUTPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT)
    VALUE(CBR_ERROR_ALLOC_CONTEXT_MODES, BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES)
    VALUE(CBR_ERROR_ALLOC_BLOCK_TYPE_TREES, BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES)
    SIZE(int, BrotliDecoderResult)
    SIZE(int, BrotliDecoderErrorCode)
#endif
#if defined(ZSTD_VERSION_NUMBER)
    SIZE(struct czstd_input, ZSTD_inBuffer)
    FIELD(struct czstd_input, ZSTD_inBuffer, src)
    FIELD(struct czstd_input, ZSTD_inBuffer, size)
    FIELD(struct czstd_input, ZSTD_inBuffer, pos)
    SIZE(struct czstd_output, ZSTD_outBuffer)
    FIELD(struct czstd_output, ZSTD_outBuffer, dst)
    FIELD(struct czstd_output, ZSTD_outBuffer, size)
    FIELD(struct czstd_output, ZSTD_outBuffer, pos)
    VALUE(CZSTD_RESET_SESSION_ONLY, ZSTD_reset_session_only)
    VALUE(CZSTD_D_WINDOW_LOG_MAX, ZSTD_d_windowLogMax)
    VALUE(CZSTD_ERROR_MEMORY_ALLOCATION, ZSTD_error_memory_allocation)
#endif
};

int32_t cdecoder_header_check(const char **first_difference) {
  const int32_t count = sizeof(comparisons) / sizeof(comparisons[0]);
  *first_difference = NULL;
  for (int32_t index = 0; index < count && *first_difference == NULL; index++) {
    const struct comparison *pair = &comparisons[index];
    if (pair->ours != pair->theirs) *first_difference = pair->name;
  }
  return count - 1;  // The first is there so that the list is never empty.
}

#endif
