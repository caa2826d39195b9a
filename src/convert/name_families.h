#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "config/model_config.h"

namespace mpitron::convert {

/// Sizes that tensors are made of.
enum class Extent {
  none,
  hidden,
  padded_vocabulary,
  vocabulary,
  positions,
  queries,  // heads * channels
  keys,     // groups * channels; values are as many
  qkv,      // queries + keys + values
  ffn,
  fc1  // ffn, or both halves of a gated one
};
/// How rows are ordered in ours.
enum class Rows {
  in_order,
  // theirs: all queries, all keys, all values; ours: per group its queries, key, value
  query_groups
};
enum class When { always, linear_bias, qkv_bias, untied };

struct Theirs {
  const char* name = nullptr;
  Extent rows = Extent::none;
};

/// A rule before the sizes are known; {} stands for the layer.
struct Entry {
  const char* ours;
  Extent rows;
  Extent columns;
  std::array<Theirs, 3> theirs;
  Rows order = Rows::in_order;
  bool transposed = false;
  When when = When::always;
};

/// What a family needs of a model; nothing else can be said in its config.json.
struct Family {
  std::string_view model_type;
  std::span<const Entry> entries;
  const char* words;            // their name of the word embeddings
  const char* optional_prefix;  // files of the first releases lack it
  bool gpt2;                    // learned positions, layer norm, biases; else Llama's choices
  bool qkv_bias;                // always there
};

/// All there are.
std::span<const Family> families();

/// Empty, or what the model would need to belong to the family.
std::string obstacle(const Family& family, const config::ModelConfig& model);

}  // namespace mpitron::convert
