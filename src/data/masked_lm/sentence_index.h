#pragma once
#include <cstdint>
#include <vector>

#include "io/arrays/packed_array.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Inputs that decide which runs of sentences become the samples of BERT and T5.
struct SentenceIndexRequest {
  io::PackedArray<std::int32_t> lengths;    // tokens of every sentence of the corpus
  io::PackedArray<std::int64_t> documents;  // first sentence of each document, and the end
  Index begin = 0;                          // documents [begin, end)
  Index end = 0;
  Index num_samples = 0;
  Index max_tokens = 0;  // of a sample, without special tokens
  Index min_sentences = 1;
  double short_probability = 0.1;  // of a sample that wants fewer than max_tokens
  Index seed = 0;
};

/// Returns rows (first sentence, end, tokens wanted), shuffled: [samples, 3], flat; T uint32 or
/// int64. All rows of the epochs needed, so at least num_samples. Documents with too few sentences,
/// and those of two or more with a long one (the reference's LONG_SENTENCE_LEN), have none;
/// Error(usage) when no document has any. Source: build_mapping of the reference's helpers.cpp.
template <class T>
std::vector<T> build_sentence_index(const SentenceIndexRequest& request);

}  // namespace mpitron::data
