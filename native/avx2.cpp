// x86-64 with AVX2 (2013 and later): eight documents at a time, impacts spread to lanes by a table of byte shuffles.
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "kernel.h"
#include "support.h"

#define TARGET __attribute__((target("avx2,bmi,popcnt")))

namespace retrolex {
namespace avx2 {

TARGET static uint64_t evaluate_group(const Scratch& scratch, int64_t group, int32_t* sums, int32_t threshold) {
  auto* lanes = reinterpret_cast<__m256i*>(sums);
  for (const FrequentTerm& term : scratch.frequent) {
    uint64_t holders = term.bitmaps[group];
    const uint8_t* impacts = term.impacts_of(group);
    const __m256i weight = _mm256_set1_epi32(static_cast<int32_t>(term.weight));
    for (int eight = 0; holders; ++eight, holders >>= 8) {
      const auto byte = static_cast<uint8_t>(holders);
      if (byte == 0) continue;
      const __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(impacts));
      const __m128i spread = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(spread_table.lanes[byte]));
      const __m256i values = _mm256_cvtepu8_epi32(_mm_shuffle_epi8(packed, spread));
      lanes[eight] = _mm256_add_epi32(lanes[eight], _mm256_mullo_epi32(values, weight));
      impacts += __builtin_popcount(byte);
    }
  }
  const __m256i least = _mm256_set1_epi32(threshold);
  uint64_t below = 0;
  for (int eight = 0; eight < 8; ++eight) {
    const auto mask = static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(least, lanes[eight]))));
    below |= static_cast<uint64_t>(mask) << (8 * eight);
  }
  return ~below;
}

#include "search.inl"

}  // namespace avx2
}  // namespace retrolex
#endif
