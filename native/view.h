// What the kernels are given: plain pointers into the memory-mapped arrays of one index (docs/index-format.md).
#pragma once
#include <cstdint>

namespace retrolex {

constexpr int64_t kBlock = 65536;  // documents a block: a document's place in it fits 16 bits, so it can't leave the accumulators
constexpr int64_t kGroup = 64;     // documents a group of the frequent terms: one bit each in a 64-bit mask
constexpr int64_t kPadding = 64;   // bytes after the last frequent impact that vector loads may touch
constexpr uint32_t kNone = 0xffffffff;

// Where a term's data of one block starts; it ends where the next term's starts.
struct Entry {
  uint32_t list;      // postings, counted from the block's first
  uint32_t overflow;  // the same for impacts above 255
  uint32_t column;    // among the block's frequent terms (columns), or kNone
};

// Where a block's data starts; it ends where the next block's starts.
struct Block {
  int64_t list;      // in list_*
  int64_t overflow;  // in overflow_*
  int64_t column;    // in column_pointers; times the groups of a full block, in bitmaps, offsets and group_maxima
};

// Mirrored field by field by retrolex.index.lexicon.native.View; retrolex_view_bytes() guards against a mismatch.
struct View {
  int64_t documents, terms, blocks;
  int64_t frequent_bytes;            // length of frequent_impacts, padding included
  const Block* block_table;          // [blocks + 1]
  const Entry* directory;            // [blocks, terms + 1]
  const uint16_t* list_documents;    // place of each posting's document in its block
  const uint8_t* list_impacts;       // the lower 255 of each impact (integer weights only)
  const float* list_weights;         // the weight (float weights only)
  const uint16_t* overflow_documents;
  const uint16_t* overflow_impacts;  // the part above 255
  const int64_t* column_pointers;    // [columns + 1] where a frequent term's impacts of one block start
  const uint64_t* bitmaps;           // [columns, groups of the block] which documents of the group hold the term
  const uint16_t* offsets;           // [columns, groups of the block] where the group's impacts start within the column
  const uint8_t* group_maxima;       // [columns, groups of the block] largest impact of the term in the group
  const uint8_t* frequent_impacts;   // the lower 255 of each impact, documents ascending
};

struct Query {
  const int32_t* terms;    // strictly increasing, within the index's terms
  const int32_t* weights;  // positive
  int64_t length;
};

}  // namespace retrolex
