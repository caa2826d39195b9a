#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "config/fp8_config.h"
#include "config/moe_config.h"

namespace mpitron::config {

/// What is trained: a decoder, an encoder that fills in masked tokens, or one with a decoder.
enum class ModelKind { gpt, bert, t5 };
enum class Normalization { layer_norm, rms_norm };
enum class PositionEmbedding { learned_absolute, rope, mrope, relative, none };
enum class RopeType { rope, yarn };
/// Elementwise function of the MLP; with `gated_linear_unit` it acts on the gate half and
/// multiplies the other half.
enum class ActivationKind {
  gelu_tanh,     // 0.5 x (1 + tanh(0.79788456 x (1 + 0.044715 x^2)))
  gelu_erf,      // x Phi(x)
  silu,          // x sigmoid(x)
  squared_relu,  // max(x, 0)^2
};
enum class RecomputeGranularity { none, full, selective };
enum class RecomputeMethod { none, uniform, block };
enum class RecomputeModule { core_attn, moe_act, layernorm, mla_up_proj, mlp, moe, shared_experts };
/// A preference only: every backend computes the same attention.
enum class AttentionBackend { automatic, flash, fused, unfused, local };

/// The transformer, resolved: no field needs another default. Names are the reference's; all counts
/// are global (not per rank). `Index` fields without a default are set by the user or derived by
/// `resolve`.
struct ModelConfig {
  ModelKind kind = ModelKind::gpt;
  // network size
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

  // attention
  AttentionBackend attention_backend = AttentionBackend::automatic;
  /// Derived: 1 / sqrt(kv_channels), not of latent attention; without qk scaling's layer number.
  double softmax_scale = 0;
  bool apply_query_key_layer_scaling = false;
  bool attention_softmax_in_fp32 = false;  // derived: forced on with apply_query_key_layer_scaling
  bool qk_layernorm = false;
  bool qk_l2_norm = false;
  /// (left, right): key j is visible to query i if i - left <= j <= i + right; unset: no limit
  /// beside the causal mask.
  std::optional<std::array<Index, 2>> window_size;
  /// True: attention masks from the data set (--reset-attention-mask) are honoured.
  bool reset_attention_mask = false;

  // positions
  PositionEmbedding position_embedding_type = PositionEmbedding::learned_absolute;
  RopeType rope_type = RopeType::rope;
  Index rotary_base = 10000;
  double rotary_percent = 1.0;
  bool rotary_interleaved = false;
  std::optional<Index> rotary_seq_len_interpolation_factor;
  bool use_rope_scaling = false;  // llama 3.1
  double rope_scaling_factor = 8.0;
  double rotary_scaling_factor = 1.0;  // YaRN
  double mscale = 1.0;
  double mscale_all_dim = 0.0;
  /// Per layer, true: no rotation in this layer. Derived from --no-rope-freq; empty: every layer
  /// rotates.
  std::vector<bool> no_rope_layers;
  Index relative_attention_num_buckets = 32;
  Index relative_attention_max_distance = 128;

  // norms and activations
  Normalization normalization = Normalization::layer_norm;
  double norm_epsilon = 1e-5;
  bool apply_layernorm_1p = false;
  bool apply_residual_connection_post_layernorm = false;
  ActivationKind activation = ActivationKind::gelu_tanh;  // derived
  bool gated_linear_unit = false;                         // derived: --swiglu

  // regularization
  double attention_dropout = 0.1;
  double hidden_dropout = 0.1;

  // initialization
  Index seed = 1234;
  double init_method_std = 0.02;
  std::optional<double> embedding_init_method_std;  // given: embeddings also lose weight decay
  bool init_method_xavier_uniform = false;
  bool perform_initialization = true;
  bool use_cpu_initialization = false;

  // precision
  DType params_dtype = DType::f32;  // derived from fp16 / bf16
  std::optional<Fp8Config> fp8;     // absent: products take factors of params_dtype
  bool fp32_residual_connection = false;
  bool fp16_lm_cross_entropy = false;
  bool cross_entropy_loss_fusion = false;
  /// Weight gradients of linear layers are added to main_grad by the product itself, in the type of
  /// main_grad; without it each microbatch's gradient is first rounded to params_dtype. Differs
  /// only for fp16 and bf16.
  bool gradient_accumulation_fusion = true;

  // recompute
  RecomputeGranularity recompute_granularity = RecomputeGranularity::none;
  RecomputeMethod recompute_method = RecomputeMethod::none;
  Index recompute_num_layers = 0;
  std::vector<RecomputeModule> recompute_modules;  // derived: {core_attn} when selective
  /// Each tensor parallel rank keeps its piece of what recomputation starts from.
  bool distribute_saved_activations = false;

  // With sequence parallelism: products run on pieces of the sequence while others travel.
  bool tp_comm_overlap = false;

  std::optional<MoeConfig> moe;  // absent: no layer has experts

  // latent attention
  bool multi_latent_attention = false;
  std::optional<Index> q_lora_rank;  // none: queries are not compressed
  Index kv_lora_rank = 32;
  Index qk_head_dim = 128;         // of a query or key, without positions
  Index qk_pos_emb_head_dim = 64;  // with rotary positions
  Index v_head_dim = 128;

  // multi-token prediction
  std::optional<Index> mtp_num_layers;
  double mtp_loss_scaling_factor = 0.1;

  // BERT: with the head that tells whether two parts are in order, and the loss of it.
  bool bert_binary_head = true;

  /// Whether selective recomputation drops what `module` computes.
  bool recomputes(RecomputeModule module) const {
    return recompute_granularity == RecomputeGranularity::selective &&
           std::ranges::count(recompute_modules, module) > 0;
  }
  /// Of the whole model.
  Index all_layers() const { return kind == ModelKind::t5 ? 2 * num_layers : num_layers; }
  /// Of a layer counted from 1, in a model with rotary positions; layers behind the last one (of
  /// multi-token prediction) do as that one.
  bool rotates(Index layer_number) const {
    return no_rope_layers.empty() ||
           !no_rope_layers[static_cast<std::size_t>(std::min(layer_number, num_layers) - 1)];
  }
  /// Width of the part of a head that rotary positions turn, before rotary_percent.
  Index rotary_head_dim() const {
    return multi_latent_attention ? qk_pos_emb_head_dim : kv_channels;
  }
  /// Latent attention turns a part of its heads whatever the other positions are.
  bool has_rotary_positions() const {
    return multi_latent_attention || position_embedding_type == PositionEmbedding::rope;
  }
};

/// Rounds a vocabulary up to a multiple of make_vocab_size_divisible_by *
/// tensor_model_parallel_size.
constexpr Index pad_vocab_size(Index vocab_size, Index make_vocab_size_divisible_by,
                               Index tensor_model_parallel_size) {
  const Index multiple = make_vocab_size_divisible_by * tensor_model_parallel_size;
  return (vocab_size + multiple - 1) / multiple * multiple;
}

}  // namespace mpitron::config
