// The best k documents seen so far: higher score first, earlier document first among equals.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace retrolex {

template <class Score>
struct Hit {
  Score score;
  uint32_t document;
};

template <class Score>
class TopK {
 public:
  explicit TopK(size_t k);

  // The least score that may still enter. A document that ties with the k-th may be the earlier one, so equality passes:
  // documents can be offered in any order.
  Score threshold() const { return threshold_; }

  void offer(Score score, uint32_t document) {
    if (score < threshold_) return;
    hits_[size_] = {score, document};
    if (++size_ == hits_.size()) make_room();
  }

  // Raise the threshold as far as the documents seen so far allow, when enough new ones came to make that worth it.
  void raise() {
    if (size_ >= k_ + k_ / 8) make_room();
  }

  // Sort and write the best k; returns how many there are.
  int64_t write(int64_t* documents, Score* scores);

 private:
  void make_room();
  void keep_best();

  size_t k_, size_ = 0;
  Score threshold_;
  std::vector<Hit<Score>> hits_;
};

extern template class TopK<int32_t>;
extern template class TopK<double>;

}  // namespace retrolex
