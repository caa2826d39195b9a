#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/index/split.h"
#include "tokenizers/core/tokenizer.h"
#include "utils/numbers/shape.h"

namespace mpitron::data {

/// Settings of a masked language model's data set that its description says besides.
struct MaskedLmDescription {
  double masking_probability = 0.15;
  double short_sequence_probability = 0.1;
  Index masking_max_ngram = 3;              // words of a masked span; T5: 10
  bool geometric = false;                   // T5
  std::optional<bool> classification_head;  // BERT: samples of two parts, perhaps swapped
  std::optional<Index> decoder_seq_length;  // T5
};

/// Inputs of a data set of one corpus, as far as its index depends on them.
struct GptDescription {
  std::string class_name = "GPTDataset";
  std::optional<std::string> dataset_path;  // the prefix as given; null for mock data
  std::optional<Index> num_samples;         // null: one epoch
  Split index_split = Split::train;
  Index seed = 0;
  Index seq_length = 0;
  std::optional<std::string> split;  // null with per-split paths, like `split_matrix`
  tokenizers::TokenizerIdentity tokenizer;
  std::optional<MaskedLmDescription> masked_lm;
};

/// Inputs of a blend of data sets.
struct BlendDescription {
  std::vector<std::string> members;  // their descriptions
  Split split = Split::train;
  std::span<const double> weights;
  std::optional<Index> size;  // null: every member once, and `weights` are integers (its length)
};

/// Return the JSON text whose MD5 names a cached index, character for character as Python's
/// json.dumps(indent=4) writes it.
std::string describe(const GptDescription& dataset);
std::string describe(const BlendDescription& blend);

}  // namespace mpitron::data
