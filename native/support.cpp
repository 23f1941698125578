#include "support.h"

namespace retrolex {

const SpreadTable spread_table;
const PairPlaces pair_places;

void promising_first(std::vector<GroupBound>& candidates, size_t count) {
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(count), candidates.end(),
                    [](const GroupBound& a, const GroupBound& b) { return a.bound != b.bound ? a.bound > b.bound : a.group < b.group; });
}

}  // namespace retrolex
