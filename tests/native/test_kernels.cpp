// Every kernel that runs here against sums made the obvious way, on random indexes. Meant for a build with the address and
// undefined-behaviour sanitizers; also hands the kernels damaged offsets, which may change results but must not be read past.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "view.h"

extern "C" {
const char* retrolex_kernel_name(int);
int retrolex_search(const retrolex::View*, const char*, const int64_t*, const int32_t*, const int32_t*, int64_t, int64_t, int64_t, int64_t*, int32_t*,
                    int64_t*);
int retrolex_search_float(const retrolex::View*, const int64_t*, const int32_t*, const float*, int64_t, int64_t, int64_t, int64_t*, double*,
                          int64_t*);
}

using namespace retrolex;

// An index in memory, and the same weights as a plain table.
struct Index {
  int64_t documents, terms;
  bool integer;
  std::vector<std::vector<float>> table;  // [documents][terms], impacts or weights
  std::vector<Block> block_table;
  std::vector<Entry> directory;
  std::vector<uint16_t> list_documents, overflow_documents, overflow_impacts, offsets;
  std::vector<uint8_t> list_impacts, group_maxima, frequent_impacts;
  std::vector<float> list_weights;
  std::vector<int64_t> column_pointers{0};
  std::vector<uint64_t> bitmaps;

  View view() const {
    const auto blocks = static_cast<int64_t>(block_table.size()) - 1;
    return {documents, terms, blocks, static_cast<int64_t>(frequent_impacts.size()), block_table.data(), directory.data(),
            list_documents.data(), list_impacts.data(), list_weights.data(), overflow_documents.data(), overflow_impacts.data(),
            column_pointers.data(), bitmaps.data(), offsets.data(), group_maxima.data(), frequent_impacts.data()};
  }
};

static void add_frequent(Index& index, int64_t first, int64_t count, int64_t term) {
  const int64_t start = static_cast<int64_t>(index.frequent_impacts.size());
  for (int64_t group = 0; group < count; group += kGroup) {
    uint64_t holders = 0;
    uint8_t most = 0;
    index.offsets.push_back(static_cast<uint16_t>(static_cast<int64_t>(index.frequent_impacts.size()) - start));
    for (int64_t i = group; i < std::min(group + kGroup, count); ++i) {
      const float value = index.table[first + i][term];
      if (value == 0) continue;
      holders |= uint64_t{1} << (i - group);
      index.frequent_impacts.push_back(static_cast<uint8_t>(std::min(value, 255.0f)));
      most = std::max(most, index.frequent_impacts.back());
    }
    index.bitmaps.push_back(holders);
    index.group_maxima.push_back(most);
  }
  index.column_pointers.push_back(static_cast<int64_t>(index.frequent_impacts.size()));
}

static Index build(int64_t documents, int64_t terms, bool integer, std::mt19937& random) {
  Index index{documents, terms, integer, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {0}, {}};
  const float edges[] = {1, 2, 100, 254, 255, 256, 511, 65535};
  index.table.assign(documents, std::vector<float>(terms));
  for (auto& row : index.table) {
    for (int64_t t = 0; t < terms; ++t) {
      if (random() % (t + 1) < 1 && random() % 5) row[t] = integer ? edges[random() % 8] : static_cast<float>(random() % 1000 + 1) / 7;
    }
  }
  for (int64_t first = 0; first < documents; first += kBlock) {
    const int64_t count = std::min(kBlock, documents - first);
    const Block base{static_cast<int64_t>(index.list_documents.size()), static_cast<int64_t>(index.overflow_documents.size()),
                     static_cast<int64_t>(index.column_pointers.size()) - 1};
    index.block_table.push_back(base);
    uint32_t columns = 0;
    for (int64_t t = 0; t <= terms; ++t) {
      const bool frequent = integer && t % 3 == 0 && t < terms;
      index.directory.push_back({static_cast<uint32_t>(index.list_documents.size() - base.list),
                                 static_cast<uint32_t>(index.overflow_documents.size() - base.overflow), frequent ? columns++ : kNone});
      if (t == terms) break;
      if (frequent) add_frequent(index, first, count, t);
      for (int64_t i = 0; i < count; ++i) {
        const float value = index.table[first + i][t];
        if (value == 0) continue;
        if (!frequent) {
          index.list_documents.push_back(static_cast<uint16_t>(i));
          if (integer) index.list_impacts.push_back(static_cast<uint8_t>(std::min(value, 255.0f)));
          else index.list_weights.push_back(value);
        }
        if (integer && value > 255) {
          index.overflow_documents.push_back(static_cast<uint16_t>(i));
          index.overflow_impacts.push_back(static_cast<uint16_t>(value - 255));
        }
      }
    }
  }
  index.block_table.push_back({static_cast<int64_t>(index.list_documents.size()), static_cast<int64_t>(index.overflow_documents.size()),
                               static_cast<int64_t>(index.column_pointers.size()) - 1});
  index.frequent_impacts.resize(index.frequent_impacts.size() + kPadding);
  return index;
}

using Ranking = std::vector<std::pair<double, int64_t>>;

static Ranking brute_force(const Index& index, const std::vector<int32_t>& terms, const std::vector<int32_t>& weights, int64_t k) {
  Ranking ranking;
  for (int64_t d = 0; d < index.documents; ++d) {
    double score = 0;
    for (size_t i = 0; i < terms.size(); ++i) score += static_cast<double>(weights[i]) * index.table[d][terms[i]];
    if (score > 0) ranking.push_back({-score, d});
  }
  std::sort(ranking.begin(), ranking.end());
  if (static_cast<int64_t>(ranking.size()) > k) ranking.resize(k);
  return ranking;
}

template <class Score>
static void compare(const Ranking& expected, const std::vector<int64_t>& documents, const std::vector<Score>& scores, int64_t count,
                    const char* kernel) {
  bool same = count == static_cast<int64_t>(expected.size());
  for (int64_t i = 0; same && i < count; ++i) same = documents[i] == expected[i].second && static_cast<double>(scores[i]) == -expected[i].first;
  if (same) return;
  std::printf("%s differs from brute force\n", kernel);
  std::exit(1);
}

static void check(Index& index, std::mt19937& random) {
  std::vector<int32_t> terms, weights;
  for (int32_t t = 0; t < index.terms; ++t) {
    if (random() % 2) continue;
    terms.push_back(t);
    weights.push_back(static_cast<int32_t>(random() % 300 + 1));
  }
  const int64_t pointers[] = {0, static_cast<int64_t>(terms.size())};
  for (int64_t k : {int64_t{1}, int64_t{10}, index.documents + 5}) {
    const Ranking expected = brute_force(index, terms, weights, k);
    std::vector<int64_t> documents(k);
    int64_t count = 0;
    const View view = index.view();
    if (!index.integer) {
      std::vector<double> scores(k);
      const std::vector<float> floats(weights.begin(), weights.end());
      retrolex_search_float(&view, pointers, terms.data(), floats.data(), 0, 1, k, documents.data(), scores.data(), &count);
      compare(expected, documents, scores, count, "float");
      continue;
    }
    std::vector<int32_t> scores(k);
    for (int i = 0; const char* kernel = retrolex_kernel_name(i); ++i) {
      retrolex_search(&view, kernel, pointers, terms.data(), weights.data(), 0, 1, k, documents.data(), scores.data(), &count);
      compare(expected, documents, scores, count, kernel);
    }
  }
  if (!index.integer) return;
  Index damaged = index;
  for (auto& offset : damaged.offsets) offset = static_cast<uint16_t>(random());
  for (auto& bitmap : damaged.bitmaps) bitmap = random() | static_cast<uint64_t>(random()) << 32;
  for (auto& place : damaged.list_documents) place = static_cast<uint16_t>(random());
  const View view = damaged.view();
  std::vector<int64_t> documents(10);
  std::vector<int32_t> scores(10);
  int64_t count = 0;
  for (int i = 0; const char* kernel = retrolex_kernel_name(i); ++i) {
    retrolex_search(&view, kernel, pointers, terms.data(), weights.data(), 0, 1, 10, documents.data(), scores.data(), &count);
  }
}

int main() {
  std::mt19937 random(1);
  int checks = 0;
  for (int64_t documents : {1, 2, 63, 64, 65, 200, 1000, 5000, 65535, 65537, 70000}) {
    for (int repeat = 0; repeat < (documents > 5000 ? 1 : 20); ++repeat, checks += 2) {
      const auto terms = static_cast<int64_t>(random() % 20 + 1);
      for (bool integer : {true, false}) {
        Index index = build(documents, terms, integer, random);
        check(index, random);
      }
    }
  }
  std::string names;
  for (int i = 0; const char* kernel = retrolex_kernel_name(i); ++i) names += std::string(" ") + kernel;
  std::printf("%d random indexes: equal to brute force with%s\n", checks, names.c_str());
}
