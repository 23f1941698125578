// Exact scores of a few documents from a forward index, where each document's terms and impacts lie side by side: the second
// stage of approximate search.
#include <cstdint>

extern "C" {

// `weights` holds the query's weight of every term, zero where it lacks one. The caller has checked that `pointers` stay
// within `terms` and `impacts`; a term past the last, in an altered index, counts nothing.
void retrolex_rescore(const int64_t* pointers, const uint32_t* terms, const uint16_t* impacts, const int64_t* weights, int64_t term_count,
                      const int64_t* documents, int64_t count, int64_t* scores) {
  constexpr int64_t kAhead = 4, kLine = 64;  // documents whose data are asked for before they are read; bytes
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const int64_t begin = pointers[documents[i + kAhead]], end = pointers[documents[i + kAhead] + 1];
      for (int64_t j = begin; j < end; j += kLine / 4) __builtin_prefetch(terms + j);
      for (int64_t j = begin; j < end; j += kLine / 2) __builtin_prefetch(impacts + j);
    }
    uint64_t score = 0;
    for (int64_t j = pointers[documents[i]]; j < pointers[documents[i] + 1]; ++j) {
      if (terms[j] < term_count) score += static_cast<uint64_t>(weights[terms[j]]) * impacts[j];
    }
    scores[i] = static_cast<int64_t>(score);
  }
}

}  // extern "C"
