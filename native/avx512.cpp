// x86-64 with AVX-512 VBMI2 (Ice Lake, Zen 4 and later): a whole group in four registers, impacts spread by one expanding load.
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "kernel.h"
#include "support.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi2,avx2,bmi,popcnt")))

namespace retrolex {
namespace avx512 {

TARGET static inline __m512i add_product(__m512i sum, __m128i impacts, __m512i weight) {
  return _mm512_add_epi32(sum, _mm512_mullo_epi32(_mm512_cvtepu8_epi32(impacts), weight));
}

TARGET static uint64_t evaluate_group(const Scratch& scratch, int64_t group, int32_t* sums, int32_t threshold) {
  __m512i a = _mm512_load_si512(sums), b = _mm512_load_si512(sums + 16), c = _mm512_load_si512(sums + 32), d = _mm512_load_si512(sums + 48);
  for (const FrequentTerm& term : scratch.frequent) {
    const uint64_t holders = term.bitmaps[group];
    if (holders == 0) continue;
    // Load, then expand: the expanding load is microcode, and many times slower, on Zen 4.
    const __m512i impacts = _mm512_maskz_expand_epi8(holders, _mm512_loadu_si512(term.impacts_of(group)));
    const __m512i weight = _mm512_set1_epi32(static_cast<int32_t>(term.weight));
    a = add_product(a, _mm512_castsi512_si128(impacts), weight);
    b = add_product(b, _mm512_extracti32x4_epi32(impacts, 1), weight);
    c = add_product(c, _mm512_extracti32x4_epi32(impacts, 2), weight);
    d = add_product(d, _mm512_extracti32x4_epi32(impacts, 3), weight);
  }
  const __m512i least = _mm512_set1_epi32(threshold);
  const uint64_t reached = static_cast<uint64_t>(_mm512_cmpge_epi32_mask(a, least)) | static_cast<uint64_t>(_mm512_cmpge_epi32_mask(b, least)) << 16 |
         static_cast<uint64_t>(_mm512_cmpge_epi32_mask(c, least)) << 32 | static_cast<uint64_t>(_mm512_cmpge_epi32_mask(d, least)) << 48;
  if (reached) {
    _mm512_store_si512(sums, a);
    _mm512_store_si512(sums + 16, b);
    _mm512_store_si512(sums + 32, c);
    _mm512_store_si512(sums + 48, d);
  }
  return reached;
}

#include "search.inl"

}  // namespace avx512
}  // namespace retrolex
#endif
