// Small things that the kernels share. Nothing here depends on an instruction set.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernel.h"

namespace retrolex {

inline int64_t groups_of(const View& view, int64_t block) { return (std::min(kBlock, view.documents - block * kBlock) + kGroup - 1) / kGroup; }

// Ask for the start of a list before it is summed: most lists are too short for the processor to notice in time that they are read.
template <class Item>
inline void prefetch(const Item* items, int64_t begin, int64_t end) {
  constexpr int64_t kLine = 64 / sizeof(Item), kMost = 2048 / sizeof(Item);
  for (int64_t i = begin; i < std::min(end, begin + kMost); i += kLine) __builtin_prefetch(items + i);
}

// For every byte, the ranks of its set bits: the shuffle that spreads packed impacts to the lanes whose bit is set.
// Lanes without a bit get 0xff, which a byte shuffle turns into zero.
struct SpreadTable {
  SpreadTable() {
    for (int byte = 0; byte < 256; ++byte) {
      uint8_t rank = 0;
      for (int bit = 0; bit < 8; ++bit) lanes[byte][bit] = byte >> bit & 1 ? rank++ : 0xff;
    }
  }
  alignas(64) uint8_t lanes[256][8];
};
extern const SpreadTable spread_table;

// Move the `count` candidates with the highest bounds to the front, best first.
void promising_first(std::vector<GroupBound>& candidates, size_t count);

}  // namespace retrolex
