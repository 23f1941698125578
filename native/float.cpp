// Exact search over float32 weights.
//
// A score is the sum, in double precision and in ascending term order, of the products of two float32 numbers. Such a
// product is exact in double precision, so that a fused multiply-add gives the same bits as a multiplication and an addition.
#include <algorithm>

#include "kernel.h"

namespace retrolex {

void search_float(const View& view, const int32_t* terms, const float* weights, int64_t length, std::vector<double>& accumulators,
                  TopK<double>& top) {
  for (int64_t block = 0; block < view.blocks; ++block) {
    const int64_t first = block * kBlock;
    const int64_t documents = std::min(kBlock, view.documents - first);
    std::fill(accumulators.begin(), accumulators.end(), 0.0);
    const Entry* entries = view.directory + block * (view.terms + 1);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t begin = view.block_table[block].list + entries[terms[i]].list;
      const int64_t end = view.block_table[block].list + entries[terms[i] + 1].list;
      const double weight = weights[i];
      for (int64_t j = begin; j < end; ++j) accumulators[view.list_documents[j]] += weight * view.list_weights[j];
    }
    for (int64_t i = 0; i < documents; ++i) {
      if (accumulators[i] >= top.threshold()) top.offer(accumulators[i], static_cast<uint32_t>(first + i));
    }
    top.raise();
  }
}

}  // namespace retrolex
