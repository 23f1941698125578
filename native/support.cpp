#include "support.h"

namespace retrolex {

const SpreadTable spread_table;
const PairPlaces pair_places;

}  // namespace retrolex
