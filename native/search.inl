// Exact search over integer impacts: the algorithm that the instruction sets share.
//
// An instruction set's file defines TARGET (the attribute that makes the compiler use it) and evaluate_group(), then
// includes this inside its own namespace, so that no code compiled for one processor is ever linked into another's path.
//
// A block of documents at a time: the rare terms' posting lists are summed into the accumulators. The frequent terms,
// which carry most postings, are left out at first: for each group of 64 documents, the best partial sum plus the
// largest contribution that the frequent terms can make bounds every score in it. Only groups whose bound reaches the
// k-th score so far are evaluated, in the first block the most promising ones first, so no document that belongs in the top k is ever skipped.
//
// Sums are unsigned: an index altered on disk may make them wrap, and wrapping must not be undefined. For a sound index
// the caller has refused every query whose scores could pass 2^31 - 1.

template <class Impact>
TARGET static inline void add_list(int32_t* __restrict sums, const uint16_t* __restrict documents, const Impact* __restrict impacts,
                                   int64_t length, uint32_t weight) {
  for (int64_t i = 0; i < length; ++i) {
    int32_t& sum = sums[documents[i]];
    sum = static_cast<int32_t>(static_cast<uint32_t>(sum) + weight * impacts[i]);
  }
}

// Sum the rare terms' lists, and note the frequent terms. Meanwhile the next block's lists are on their way into the cache.
TARGET static void add_lists(const View& view, const Query& query, int64_t block, int64_t groups, Scratch& scratch) {
  const Block& base = view.block_table[block];
  const Entry* entries = view.directory + block * (view.terms + 1);
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
    int64_t start = base.list + entry.list;
    add_list(scratch.accumulators, view.list_documents + start, view.list_impacts + start, next.list - entry.list, weight);
    start = base.overflow + entry.overflow;
    add_list(scratch.accumulators, view.overflow_documents + start, view.overflow_impacts + start, next.overflow - entry.overflow, weight);
    if (entry.column == kNone) continue;
    scratch.frequent.emplace_back(view, block, groups, entry.column, weight);
    const FrequentTerm& added = scratch.frequent.back();
    prefetch(added.maxima, 0, groups);
    prefetch(added.bitmaps, 0, 64);  // the rest of these is read in sequence
    prefetch(added.offsets, 0, 128);
    prefetch(added.impacts, 0, 512);
  }
}

// bounds[g] = the most that a document of group g can score.
TARGET static void bound_groups(int64_t groups, Scratch& scratch) {
  int32_t* __restrict bounds = scratch.bounds.data();
  for (int64_t g = 0; g < groups; ++g) {
    const int32_t* sums = scratch.accumulators + g * kGroup;
    int32_t best = 0;
    for (int64_t i = 0; i < kGroup; ++i) best = sums[i] > best ? sums[i] : best;
    bounds[g] = best;
  }
  for (const FrequentTerm& term : scratch.frequent) {
    const uint8_t* __restrict maxima = term.maxima;
    const uint32_t weight = term.weight;
    for (int64_t g = 0; g < groups; ++g) bounds[g] = static_cast<int32_t>(static_cast<uint32_t>(bounds[g]) + weight * maxima[g]);
  }
}

// Finish the sums of one group and offer its documents.
TARGET static void finish_group(const View& view, int64_t first, int64_t group, Scratch& scratch, TopK<int32_t>& top) {
  uint64_t reached = evaluate_group(scratch, group, scratch.accumulators + group * kGroup, top.threshold());
  while (reached) {
    const int64_t place = group * kGroup + __builtin_ctzll(reached);
    reached &= reached - 1;
    if (first + place >= view.documents) continue;  // a place past the end, in an altered index
    top.offer(scratch.accumulators[place], static_cast<uint32_t>(first + place));
  }
}

TARGET void search(const View& view, const Query& query, Scratch& scratch, TopK<int32_t>& top, size_t primed) {
  for (int64_t block = 0; block < view.blocks; ++block) {
    const int64_t first = block * kBlock;
    const int64_t groups = groups_of(view, block);
    add_lists(view, query, block, groups, scratch);
    bound_groups(groups, scratch);
    auto& candidates = scratch.candidates;
    candidates.clear();
    for (int64_t g = 0; g < groups; ++g) {
      if (scratch.bounds[g] >= top.threshold()) candidates.push_back({scratch.bounds[g], static_cast<int32_t>(g)});
    }
    size_t done = 0;
    if (block == 0 && candidates.size() > primed) {  // the later blocks start with a threshold
      promising_first(candidates, primed);
      for (; done < primed; ++done) finish_group(view, first, candidates[done].group, scratch, top);
      top.raise();
    }
    for (; done < candidates.size(); ++done) {
      if (candidates[done].bound >= top.threshold()) finish_group(view, first, candidates[done].group, scratch, top);
    }
    top.raise();
    std::memset(scratch.accumulators, 0, kBlock * sizeof(int32_t));
  }
}
