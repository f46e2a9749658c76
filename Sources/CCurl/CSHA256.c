#include "CSHA256.h"

#if defined(__linux__) && defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

bool csha256_is_available(void) {
  unsigned int a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

// The instructions take the eight words as two vectors, named after their words from the highest to the lowest.
__attribute__((target("sha,sse4.1"))) void csha256_absorb(
    void *state, const uint32_t *constants, const void *bytes, size_t blocks) {
  const __m128i big_endian = _mm_set_epi64x(0x0C0D0E0F08090A0B, 0x0405060700010203);
  __m128i *halves = state;
  const __m128i *next = bytes;
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; blocks > 0; blocks--) {
    const __m128i old_abef = abef, old_cdgh = cdgh;
    __m128i words[4];
    for (int i = 0; i < 4; i++) words[i] = _mm_shuffle_epi8(_mm_loadu_si128(next++), big_endian);
    // Four rounds at a time. Each step replaces the oldest four words with the words that are needed 16 rounds later.
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i++) {
      const __m128i now = words[i % 4], last = words[(i + 3) % 4];
      const __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)constants + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      const __m128i middle = _mm_alignr_epi8(last, words[(i + 2) % 4], 4);
      const __m128i early = _mm_add_epi32(_mm_sha256msg1_epu32(now, words[(i + 1) % 4]), middle);
      words[i % 4] = _mm_sha256msg2_epu32(early, last);
    }
    abef = _mm_add_epi32(abef, old_abef);
    cdgh = _mm_add_epi32(cdgh, old_cdgh);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#endif
