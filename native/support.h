// Small things that the kernels share. Nothing here depends on an instruction set.
#pragma once
#include <algorithm>
#include <cstddef>

#include "kernel.h"

namespace retrolex {

inline int64_t groups_of(const View& view, int64_t block) { return (std::min(kBlock, view.documents - block * kBlock) + kGroup - 1) / kGroup; }

// Ask for the start of a list long before it is summed, into the second-level cache: most lists are too short for the
// processor to notice in time that they are read.
template <class Item>
inline void prefetch(const Item* items, int64_t begin, int64_t end) {
  constexpr int64_t kLine = 64 / sizeof(Item), kMost = 4096 / sizeof(Item);
  for (int64_t i = begin; i < std::min(end, begin + kMost); i += kLine) __builtin_prefetch(items + i, 0, 2);
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

// For each of sixteen documents, where two registers of 64 bytes hold its byte: four bytes a document, of which the first
// points into one register, the third into the other (from 64), and the rest is masked.
struct PairPlaces {
  PairPlaces() {
    for (int document = 0; document < 16; ++document) {
      const auto place = static_cast<uint8_t>(document), other = static_cast<uint8_t>(64 + document);
      const uint8_t four[] = {place, 0, other, 0};
      std::copy(four, four + 4, bytes + 4 * document);
    }
  }
  alignas(64) uint8_t bytes[64];
};
extern const PairPlaces pair_places;

}  // namespace retrolex
