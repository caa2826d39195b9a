#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/index/numpy_random.h"
#include "io/arrays/packed_array.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Inputs that determine the order of GPT samples: the sequences [begin, end) of a corpus, read
/// `epochs` times in shuffled order and cut into pieces of `seq_length` tokens.
struct GptIndexRequest {
  io::PackedArray<std::int32_t> lengths;  // tokens of every sequence of the corpus
  Index begin = 0;
  Index end = 0;
  std::optional<Index> num_samples;  // nothing: one epoch
  Index seq_length = 0;
  Index seed = 0;
  bool add_extra_token = true;    // a sample has one token more than inputs, for the last label
  bool drop_last_partial = true;  // false: a shorter last sample, padded
};

/// Sizes of the indices, known before they are built.
struct GptIndexPlan {
  Index tokens_per_epoch = 0;
  Index epochs = 1;
  Index samples = 0;             // of all epochs: at least num_samples
  Index samples_sans_final = 0;  // shuffled on their own when `separate_final_epoch`
  bool separate_final_epoch = false;
};

/// Returns the sizes of the indices. The last epoch is kept apart when only a part of it is needed
/// (kSeparateBelow), so that all samples of the epochs before it are used. `tokens_per_epoch` must
/// be positive and allow one sample.
GptIndexPlan plan_gpt_index(const GptIndexRequest& request);

/// Sequences in reading order: each epoch all of them. [epochs * (end - begin)]. `random` goes on
/// to the shuffle index.
template <class T>
std::vector<T> build_document_index(const GptIndexRequest& request, const GptIndexPlan& plan,
                                    RandomState& random);

/// Returns where sample i begins: (position in the document index, token offset), [samples + 1, 2],
/// flat; T is int32 or int64.
template <class T, class Document>
std::vector<T> build_sample_index(const GptIndexRequest& request, const GptIndexPlan& plan,
                                  std::span<const Document> documents);

/// Sample numbers in the order they are used. [samples]; T uint32 or int64.
template <class T>
std::vector<T> build_shuffle_index(const GptIndexPlan& plan, RandomState& random);

}  // namespace mpitron::data
