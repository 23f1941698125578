// What every instruction set implements, and the memory it works in.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "topk.h"
#include "view.h"

namespace retrolex {

// A frequent term of the query, in the block being searched: arrays by group, and the packed impacts.
struct FrequentTerm {
  FrequentTerm(const View& view, int64_t block, int64_t groups, uint32_t column_in_block, uint32_t query_weight) : weight(query_weight) {
    const int64_t first = view.block_table[block].column, column = first + column_in_block;
    const int64_t cell = first * (kBlock / kGroup) + column_in_block * groups;
    bitmaps = view.bitmaps + cell;
    offsets = view.offsets + cell;
    maxima = view.group_maxima + cell;
    impacts = view.frequent_impacts + view.column_pointers[column];
    last = view.frequent_bytes - kPadding - view.column_pointers[column];
  }

  // Cut to the array's end, so that an altered offset can't make a kernel read outside.
  const uint8_t* impacts_of(int64_t group) const { return impacts + std::min<int64_t>(offsets[group], last); }

  const uint64_t* bitmaps;
  const uint16_t* offsets;
  const uint8_t* maxima;
  const uint8_t* impacts;
  int64_t last;
  uint32_t weight;
};

struct GroupBound {
  int32_t bound;
  int32_t group;
};

// Reused from query to query. Invariant between queries: every accumulator is zero.
struct Scratch {
  Scratch() : storage(kBlock + 16), bounds(kBlock / kGroup) {
    const auto address = reinterpret_cast<uintptr_t>(storage.data());
    accumulators = storage.data() + (64 - address % 64) % 64 / sizeof(int32_t);
  }
  std::vector<int32_t> storage;
  int32_t* accumulators;  // [kBlock], on a cache line
  std::vector<int32_t> bounds;
  std::vector<FrequentTerm> frequent;
  std::vector<GroupBound> candidates;
};

// `primed`: how many groups of the first block are evaluated before the others.
using Search = void(const View&, const Query&, Scratch&, TopK<int32_t>&, size_t primed);

namespace scalar { Search search; }
namespace avx2 { Search search; }
namespace avx512 { Search search; }
namespace neon { Search search; }

// Float weights need no vector instructions of their own: one kernel serves every machine.
void search_float(const View&, const int32_t* terms, const float* weights, int64_t length, std::vector<double>& accumulators, TopK<double>&);

}  // namespace retrolex
