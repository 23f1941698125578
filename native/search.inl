// Exact search over integer impacts: the algorithm that the instruction sets share.
//
// An instruction set's file defines TARGET (the attribute that makes the compiler use it) and evaluate_group(), then
// includes this inside its own namespace, so that no code compiled for one processor is ever linked into another's path.
//
// A window of documents at a time, few enough that the accumulators stay close to the core: the rare terms' posting lists
// are summed into them. The frequent terms, which carry most postings, are left out at first: for each group of 64
// documents, the best partial sum plus the largest contribution that the frequent terms can make bounds every score in
// it. Only groups whose bound reaches the k-th score so far are evaluated, so no document of the top k is ever skipped.
//
// Sums are unsigned: an index altered on disk may make them wrap, and wrapping must not be undefined. For a sound index
// the caller has refused every query whose scores could pass 2^31 - 1.

// Places are cut to the window: an altered index may hold others.
TARGET static inline void add_posting(int32_t* __restrict sums, uint16_t place, uint32_t product) {
  int32_t& sum = sums[place % kWindow];
  sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + product);
}

// Sum a list's next postings, of documents before place `end` of the block. Documents ascend, so that the last of eight speaks for them.
template <class Impact>
TARGET static inline void add_postings(int32_t* __restrict sums, List<Impact>& list, int64_t end) {
  const uint16_t* documents = list.documents;
  const Impact* impacts = list.impacts;
  const uint32_t weight = list.weight;
  for (; list.end - documents >= 8 && documents[7] < end; documents += 8, impacts += 8) {
    for (int i = 0; i < 8; ++i) add_posting(sums, documents[i], weight * impacts[i]);
  }
  for (; documents < list.end && *documents < end; ++documents, ++impacts) add_posting(sums, *documents, weight * *impacts);
  list.documents = documents;
  list.impacts = impacts;
}

template <class Impact>
static inline void open_list(std::vector<List<Impact>>& lists, const uint16_t* documents, const Impact* impacts, int64_t start, uint32_t begin,
                             uint32_t end, uint32_t weight) {
  if (begin < end) lists.push_back({documents + start + begin, documents + start + end, impacts + start + begin, weight});
}

// Look up the query's terms in a block. Meanwhile the next block's lists are on their way into the cache.
TARGET static void open_block(const View& view, const Query& query, int64_t block, int64_t groups, Scratch& scratch) {
  const Block& base = view.block_table[block];
  const Entry* entries = view.directory + block * (view.terms + 1);
  scratch.lists.clear();
  scratch.overflows.clear();
  scratch.frequent.clear();
  for (int64_t i = 0; i < query.length; ++i) {
    if (block + 2 < view.blocks) __builtin_prefetch(entries + 2 * (view.terms + 1) + query.terms[i]);
    if (block + 1 < view.blocks) {
      const int64_t start = view.block_table[block + 1].list;
      const Entry entry = entries[view.terms + 1 + query.terms[i]], next = entries[view.terms + 2 + query.terms[i]];
      prefetch(view.list_documents, start + entry.list, start + next.list);
      prefetch(view.list_impacts, start + entry.list, start + next.list);
    }
    const Entry entry = entries[query.terms[i]], next = entries[query.terms[i] + 1];
    const auto weight = static_cast<uint32_t>(query.weights[i]);
    open_list(scratch.lists, view.list_documents, view.list_impacts, base.list, entry.list, next.list, weight);
    open_list(scratch.overflows, view.overflow_documents, view.overflow_impacts, base.overflow, entry.overflow, next.overflow, weight);
    if (entry.column == kNone) continue;
    scratch.frequent.emplace_back(view, block, groups, entry.column, weight);
    const FrequentTerm& added = scratch.frequent.back();
    prefetch(added.maxima, 0, groups);
    prefetch(added.bitmaps, 0, 64);  // the rest of these is read in sequence
    prefetch(added.offsets, 0, 128);
    prefetch(added.impacts, 0, 512);
  }
}

// bounds[i] = the most that a document of the window's i-th group, the block's `first_group` + i-th, can score.
TARGET static void bound_groups(int64_t first_group, int64_t groups, Scratch& scratch) {
  int32_t* __restrict bounds = scratch.bounds;
  for (int64_t g = 0; g < groups; ++g) {
    const int32_t* sums = scratch.accumulators + g * kGroup;
    int32_t best = 0;
    for (int64_t i = 0; i < kGroup; ++i) best = sums[i] > best ? sums[i] : best;
    bounds[g] = best;
  }
  for (const FrequentTerm& term : scratch.frequent) {
    const uint8_t* __restrict maxima = term.maxima + first_group;
    const uint32_t weight = term.weight;
    for (int64_t g = 0; g < groups; ++g) bounds[g] = static_cast<int32_t>(static_cast<uint32_t>(bounds[g]) + weight * maxima[g]);
  }
}

// Finish the sums of one group of the block and offer its documents.
TARGET static void finish_group(const View& view, int64_t first, int64_t group, Scratch& scratch, TopK<int32_t>& top) {
  int32_t* sums = scratch.accumulators + group * kGroup % kWindow;
  uint64_t reached = evaluate_group(scratch, group, sums, top.threshold());
  while (reached) {
    const int bit = __builtin_ctzll(reached);
    reached &= reached - 1;
    const int64_t document = first + group * kGroup + bit;
    if (document >= view.documents) continue;  // a place past the end, in an altered index
    top.offer(sums[bit], static_cast<uint32_t>(document));
  }
}

TARGET void search(const View& view, const Query& query, Scratch& scratch, TopK<int32_t>& top) {
  for (int64_t block = 0; block < view.blocks; ++block) {
    const int64_t groups = groups_of(view, block);
    open_block(view, query, block, groups, scratch);
    for (int64_t begin = 0; begin < groups; begin += kWindow / kGroup) {
      const int64_t end = std::min(groups, begin + kWindow / kGroup);
      for (auto& list : scratch.lists) add_postings(scratch.accumulators, list, end * kGroup);
      for (auto& list : scratch.overflows) add_postings(scratch.accumulators, list, end * kGroup);
      bound_groups(begin, end - begin, scratch);
      for (int64_t group = begin; group < end; ++group) {
        if (scratch.bounds[group - begin] >= top.threshold()) finish_group(view, block * kBlock, group, scratch, top);
      }
      top.raise();
      std::memset(scratch.accumulators, 0, kWindow * sizeof(int32_t));
    }
  }
}
