// Plain C++: the reference that the vector kernels are tested against, and what runs where none of them can.
#include <algorithm>
#include <cstring>

#include "kernel.h"
#include "support.h"

#define TARGET

namespace retrolex {
namespace scalar {

static uint64_t evaluate_group(const Scratch& scratch, int64_t group, int32_t* sums, int32_t threshold) {
  for (const FrequentTerm& term : scratch.frequent) {
    uint64_t holders = term.bitmaps[group];
    const uint8_t* impacts = term.impacts_of(group);
    while (holders) {
      int32_t& sum = sums[__builtin_ctzll(holders)];
      holders &= holders - 1;
      sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + term.weight * *impacts++);
    }
  }
  uint64_t reached = 0;
  for (int64_t i = 0; i < kGroup; ++i) reached |= static_cast<uint64_t>(sums[i] >= threshold) << i;
  return reached;
}

#include "search.inl"

}  // namespace scalar
}  // namespace retrolex
