// x86-64 with AVX-512 VBMI2 and VNNI (Ice Lake, Zen 4 and later): a whole group in four registers, two terms at a time.
#if defined(__x86_64__)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "kernel.h"
#include "support.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,avx512vnni,avx2,bmi,popcnt")))

namespace retrolex {
namespace avx512 {

// The group's impacts of one term, a byte a document. Also asks for what a later group needs: the reads of many terms'
// arrays side by side are more than the processor foresees.
TARGET static inline __m512i load_impacts(const FrequentTerm& term, int64_t group) {
  const uint8_t* packed = term.impacts_of(group);
  __builtin_prefetch(packed + 384);
  __builtin_prefetch(term.bitmaps + group + 40);
  __builtin_prefetch(term.offsets + group + 64);
  return _mm512_maskz_expand_epi8(term.bitmaps[group], _mm512_loadu_si512(packed));
}

// sum + impacts * weight, for sixteen documents.
TARGET static inline __m512i add_product(__m512i sum, __m128i impacts, __m512i weight) {
  return _mm512_add_epi32(sum, _mm512_mullo_epi32(_mm512_cvtepu8_epi32(impacts), weight));
}

// sum + one * its weight + other * its weight, for the sixteen documents whose bytes `places` names in both registers:
// they are laid side by side as 16-bit numbers, and multiplied and added in one instruction.
TARGET static inline __m512i add_products(__m512i sum, __m512i one, __m512i places, __m512i other, __m512i weights) {
  constexpr __mmask64 low_bytes = 0x5555555555555555;
  return _mm512_dpwssd_epi32(sum, _mm512_maskz_permutex2var_epi8(low_bytes, one, places, other), weights);
}

TARGET static uint64_t evaluate_group(const Scratch& scratch, int64_t group, int32_t* sums, int32_t threshold) {
  __m512i a = _mm512_load_si512(sums), b = _mm512_load_si512(sums + 16), c = _mm512_load_si512(sums + 32), d = _mm512_load_si512(sums + 48);
  const __m512i sixteen = _mm512_set1_epi32(0x00100010);
  const __m512i of_a = _mm512_load_si512(pair_places.bytes), of_b = _mm512_add_epi32(of_a, sixteen);
  const __m512i of_c = _mm512_add_epi32(of_b, sixteen), of_d = _mm512_add_epi32(of_c, sixteen);
  const FrequentTerm* term = scratch.frequent.data();
  const FrequentTerm* end = term + scratch.frequent.size();
  for (; term + 1 < end && (term[0].weight | term[1].weight) < 0x8000; term += 2) {
    const __m512i one = load_impacts(term[0], group), other = load_impacts(term[1], group);
    const __m512i weights = _mm512_set1_epi32(static_cast<int32_t>(term[0].weight | term[1].weight << 16));
    a = add_products(a, one, of_a, other, weights);
    b = add_products(b, one, of_b, other, weights);
    c = add_products(c, one, of_c, other, weights);
    d = add_products(d, one, of_d, other, weights);
  }
  for (; term < end; ++term) {
    const __m512i impacts = load_impacts(*term, group), weight = _mm512_set1_epi32(static_cast<int32_t>(term->weight));
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
