#pragma once
#include <optional>

namespace mpitron::config {

/// LayerNorm (Ba et al. 2016) subtracts the mean and has a bias; RMSNorm (Zhang and Sennrich 2019)
/// has neither.
enum class Normalization { layer_norm, rms_norm };
/// Elementwise function of the MLP; with `gated_linear_unit` it acts on the gate half and
/// multiplies the other half.
enum class ActivationKind {
  gelu_tanh,     // 0.5 x (1 + tanh(0.79788456 x (1 + 0.044715 x^2)))
  gelu_erf,      // x Phi(x)
  silu,          // x sigmoid(x)
  squared_relu,  // max(x, 0)^2
  quick_gelu,    // x sigmoid(1.702 x)
};

/// Norms and dropout around the residual stream.
struct ResidualConfig {
  Normalization normalization = Normalization::layer_norm;
  double norm_epsilon = 1e-5;
  bool apply_layernorm_1p = false;
  bool apply_residual_connection_post_layernorm = false;
  /// Norms behind a branch as well, in front of its sum with the stream.
  bool post_self_attn_layernorm = false, post_mlp_layernorm = false;
  bool scale_embeddings = false;  // by the root of the hidden size
  double hidden_dropout = 0.1;
  double drop_path = 0;  // share of samples that the last layer's branches leave out
  bool fp32_residual_connection = false;
};

/// The elementwise functions of the feed-forward networks.
struct ActivationConfig {
  ActivationKind activation = ActivationKind::gelu_tanh;  // derived
  bool gated_linear_unit = false;          // derived: --swiglu, --geglu, --quick-geglu
  std::optional<double> activation_clamp;  // of both inputs of a gated activation
  double glu_linear_offset = 0;            // of its linear half
};

}  // namespace mpitron::config
