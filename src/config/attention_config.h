#pragma once
#include <array>
#include <optional>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// A preference only: every backend computes the same attention.
enum class AttentionBackend { automatic, flash, fused, unfused, local };
/// A logit without a value that joins each softmax: none, 0, or one learned for each head.
enum class AttentionSink { none, zero, learned };
/// Parameters of `--qk-clip`: after an update, query and key rows of heads whose largest score is
/// above the threshold shrink (Kimi K2).
struct QkClipConfig {
  double alpha = 0.5;  // share of the queries in the factor
  double threshold = 100;
};

/// Queries at position p are multiplied by 1 + growth ln(1 + floor((p + 1) / floor)), which is 1 in
/// front of position floor - 1 (Llama 4).
struct QueryScale {
  Index floor = 8192;
  double growth = 0.1;
};

/// Settings of every layer's attention beside its sizes and positions.
struct AttentionConfig {
  AttentionBackend attention_backend = AttentionBackend::automatic;
  /// Derived: 1 / sqrt(kv_channels), or of query_pre_attn_scalar, or muP's factor; latent attention
  /// has a scale of its own.
  double softmax_scale = 0;
  /// Bounds of scores, and of the output layer's logits: x becomes bound * tanh(x / bound).
  std::optional<double> attn_logit_softcapping, final_logit_softcapping;
  /// Scores are divided by its root in place of the head size's.
  std::optional<double> query_pre_attn_scalar;
  /// Forces the softmax to fp32. The reference also divides the scores by the layer's number and
  /// multiplies them by it in the softmax: that cancels and is left out.
  bool apply_query_key_layer_scaling = false;
  bool attention_softmax_in_fp32 = false;  // derived: forced on with apply_query_key_layer_scaling
  /// Norms of queries and keys in each head, learned or without weights.
  bool qk_layernorm = false;
  bool qk_l2_norm = false;
  bool qk_l2_norm_with_rope_only = false;  // in layers that rotate alone
  /// (left, right): key j is visible to query i if i - left <= j <= i + right; unset: no limit
  /// beside the causal mask.
  std::optional<std::array<Index, 2>> window_size;
  /// Per layer, true: it has the window. Empty: every layer.
  std::vector<bool> window_layers;
  /// In layers that rotate a query sees keys of its own chunk of so many positions alone.
  std::optional<Index> attention_chunk_size;
  std::optional<QueryScale> query_scale;  // in the other layers
  /// Multiplies what attention gives by a sigmoid of a further projection of the queries' input.
  bool attention_output_gate = false;
  AttentionSink attention_sink = AttentionSink::none;
  bool log_max_attention_logit = false;
  std::optional<QkClipConfig> qk_clip;
  /// True: attention masks from the data set (--reset-attention-mask, --sft-packing) are honoured.
  bool reset_attention_mask = false;
  double attention_dropout = 0.1;
};

/// Indexer of sparse attention (DeepSeek-V3.2): it scores the keys of each query by small heads of
/// its own, and attention looks at the best of them.
struct IndexerConfig {
  Index heads = 0;
  Index head_dim = 0;
  Index topk = 0;                   // keys that a query sees
  double loss_coefficient = 0;      // 0: nothing trains the indexer
  bool sparse_loss = false;         // compares it with attention over the chosen keys, not over all
  bool rotary_interleaved = false;  // pairs of rotary components are neighbours, not in two halves
  bool hadamard = true;             // turns queries and keys by a Hadamard matrix
  std::optional<double> norm_epsilon;  // of the keys' norm; none: the model's
};

/// Sizes of multi-head latent attention (DeepSeek-V2): keys and values are compressed to
/// kv_lora_rank numbers and one rotary part that all heads share.
struct LatentConfig {
  bool multi_latent_attention = false;
  std::optional<Index> q_lora_rank;  // none: queries are not compressed
  Index kv_lora_rank = 32;
  Index qk_head_dim = 128;         // of a query or key, without positions
  Index qk_pos_emb_head_dim = 64;  // with rotary positions
  Index v_head_dim = 128;
  std::optional<IndexerConfig> indexer;  // of layers of sparse attention; none: there are none
};

}  // namespace mpitron::config
