#pragma once

#include <optional>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Layers are described one by one: the bound keeps a mistyped or damaged number from filling the
/// memory.
constexpr Index kMostLayers = 100'000;

/// Sizes of a transformer; all counts are global (not per rank). `Index` fields without a default
/// are set by the user or derived by `resolve`.
struct SizeConfig {
  Index num_layers = 0;  // of an encoder-decoder: of each of the two
  Index hidden_size = 0;
  Index ffn_hidden_size =
      0;  // derived: 4 h, with SwiGLU int(4h * 2/3 / 64) * 64; width of one half when gated
  Index num_attention_heads = 0;
  Index kv_channels = 0;       // head dimension d; derived: h / heads
  Index num_query_groups = 0;  // derived: = num_attention_heads without --group-query-attention
  bool group_query_attention = false;
  Index seq_length = 0;          // of an encoder-decoder: the encoder's
  Index decoder_seq_length = 0;  // 0 without a decoder beside an encoder
  Index max_position_embeddings = 0;
  /// Rows of the embedding and of the output matrix; 0 until the tokenizer is known (see
  /// `pad_vocab_size`).
  Index padded_vocab_size = 0;
  Index make_vocab_size_divisible_by = 128;
  bool untie_embeddings_and_output_weights = false;
  bool add_bias_linear = true;
  bool add_qkv_bias = true;  // derived: forced on with add_bias_linear
};

/// Rounds a vocabulary up to a multiple of make_vocab_size_divisible_by *
/// tensor_model_parallel_size.
constexpr Index pad_vocab_size(Index vocab_size, Index make_vocab_size_divisible_by,
                               Index tensor_model_parallel_size) {
  const Index multiple = make_vocab_size_divisible_by * tensor_model_parallel_size;
  return (vocab_size + multiple - 1) / multiple * multiple;
}

/// Factors of `--use-mup` (Yang et al. 2022) that depend on the width, beside those of the rates.
struct MupConfig {
  double width = 1;  // hidden size over that of the base model
  double embedding_factor = 1;
  double output_factor = 1;
};

/// Initial values of parameters.
struct InitializationConfig {
  Index seed = 1234;
  double init_method_std = 0.02;
  std::optional<double> embedding_init_method_std;  // given: embeddings also lose weight decay
  /// Draws uniformly by fan-in and fan-out (Glorot and Bengio 2010) instead of from a normal
  /// distribution.
  bool init_method_xavier_uniform = false;
  std::optional<MupConfig> mup;
  bool perform_initialization = true;
  bool use_cpu_initialization = false;
};

}  // namespace mpitron::config
