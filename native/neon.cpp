// 64-bit ARM, whose NEON is always there: eight documents at a time, impacts spread to lanes by a table of byte shuffles.
#if defined(__aarch64__)
#include <arm_neon.h>

#include <algorithm>
#include <cstring>

#include "kernel.h"
#include "support.h"

#define TARGET

namespace retrolex {
namespace neon {

static uint64_t evaluate_group(const Scratch& scratch, int64_t group, int32_t* sums, int32_t threshold) {
  for (const FrequentTerm& term : scratch.frequent) {
    uint64_t holders = term.bitmaps[group];
    const uint8_t* impacts = term.impacts_of(group);
    for (int32_t* lanes = sums; holders; lanes += 8, holders >>= 8) {
      const auto byte = static_cast<uint8_t>(holders);
      if (byte == 0) continue;
      const uint16x8_t values = vmovl_u8(vtbl1_u8(vld1_u8(impacts), vld1_u8(spread_table.lanes[byte])));
      const int32x4_t low = vreinterpretq_s32_u32(vmulq_n_u32(vmovl_u16(vget_low_u16(values)), term.weight));
      const int32x4_t high = vreinterpretq_s32_u32(vmulq_n_u32(vmovl_u16(vget_high_u16(values)), term.weight));
      vst1q_s32(lanes, vaddq_s32(vld1q_s32(lanes), low));
      vst1q_s32(lanes + 4, vaddq_s32(vld1q_s32(lanes + 4), high));
      impacts += __builtin_popcount(byte);
    }
  }
  uint64_t reached = 0;
  for (int64_t i = 0; i < kGroup; ++i) reached |= static_cast<uint64_t>(sums[i] >= threshold) << i;
  return reached;
}

#include "search.inl"

}  // namespace neon
}  // namespace retrolex
#endif
