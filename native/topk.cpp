#include "topk.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace retrolex {
namespace {

template <class Score>
bool better(const Hit<Score>& a, const Hit<Score>& b) {
  return a.score != b.score ? a.score > b.score : a.document < b.document;
}

// Only documents that score more than nothing are returned.
template <class Score>
constexpr Score least_positive() {
  return std::is_integral<Score>::value ? Score(1) : std::numeric_limits<Score>::denorm_min();
}

// A score that at least k of the hits reach, as close to the k-th as 256 equal steps from `least` to the highest allow.
int32_t reached_by(const Hit<int32_t>* hits, size_t size, size_t k, int32_t least) {
  constexpr uint32_t kSteps = 256;
  uint32_t highest = 0;
  for (size_t i = 0; i < size; ++i) highest = std::max(highest, static_cast<uint32_t>(hits[i].score - least));
  int shift = 0;
  while (highest >> shift >= kSteps) ++shift;
  uint32_t counts[kSteps] = {};
  for (size_t i = 0; i < size; ++i) ++counts[static_cast<uint32_t>(hits[i].score - least) >> shift];
  uint32_t step = kSteps;
  for (size_t seen = 0; seen < k;) seen += counts[--step];
  return least + static_cast<int32_t>(step << shift);
}

}  // namespace

template <class Score>
TopK<Score>::TopK(size_t k) : k_(k), threshold_(least_positive<Score>()), hits_(std::max<size_t>(64, 3 * k)) {}

// A full sort or selection costs more than it brings in the middle of a search: a threshold slightly too low is enough.
template <class Score>
void TopK<Score>::make_room() {
  if constexpr (std::is_same<Score, int32_t>::value) {
    threshold_ = reached_by(hits_.data(), size_, k_, threshold_);
    size_t kept = 0;
    for (size_t i = 0; i < size_; ++i) {
      hits_[kept] = hits_[i];
      kept += hits_[i].score >= threshold_;
    }
    size_ = kept;
    if (size_ <= k_ + k_ / 2) return;  // otherwise many scores are nearly equal
  }
  keep_best();
}

template <class Score>
void TopK<Score>::keep_best() {
  if (size_ < k_) return;
  const auto kth = hits_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
  std::nth_element(hits_.begin(), kth, hits_.begin() + static_cast<std::ptrdiff_t>(size_), better<Score>);
  size_ = k_;
  threshold_ = kth->score;
}

template <class Score>
int64_t TopK<Score>::write(int64_t* documents, Score* scores) {
  keep_best();
  std::sort(hits_.begin(), hits_.begin() + static_cast<std::ptrdiff_t>(size_), better<Score>);
  for (size_t i = 0; i < size_; ++i) {
    documents[i] = hits_[i].document;
    scores[i] = hits_[i].score;
  }
  return static_cast<int64_t>(size_);
}

template class TopK<int32_t>;
template class TopK<double>;

}  // namespace retrolex
