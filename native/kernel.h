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

// What is left of a rare term's postings in the block being searched.
template <class Impact>
struct List {
  const uint16_t* documents;
  const uint16_t* end;
  const Impact* impacts;
  uint32_t weight;
};

// Documents summed at a time: with fewer, beginnings and ends of lists cost more; with more, misses of the nearest caches.
constexpr int64_t kWindow = 16384;

// Reused from query to query. Invariant between queries: every accumulator is zero.
struct Scratch {
  alignas(64) int32_t accumulators[kWindow] = {};
  int32_t bounds[kWindow / kGroup];
  std::vector<List<uint8_t>> lists;
  std::vector<List<uint16_t>> overflows;
  std::vector<FrequentTerm> frequent;
};

using Search = void(const View&, const Query&, Scratch&, TopK<int32_t>&);

namespace scalar { Search search; }
namespace avx2 { Search search; }
namespace avx512 { Search search; }
namespace neon { Search search; }

// Float weights need no vector instructions of their own: one kernel serves every machine.
void search_float(const View&, const int32_t* terms, const float* weights, int64_t length, std::vector<double>& accumulators, TopK<double>&);

}  // namespace retrolex
