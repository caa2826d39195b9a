#pragma once
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::plan {

/// A decoder as far as its time and memory depend on it. Widths in elements.
struct ModelShape {
  Index layers = 0;
  Index hidden = 0;
  Index ffn = 0;
  Index heads = 0;
  Index kv_heads = 0;
  Index head_dim = 0;
  bool gated = false;
  Index vocab = 0;  // padded
  bool tied = false;
  Index experts = 0;  // 0: every layer is dense
  Index top_k = 0;
  Index moe_ffn = 0;
  Index shared_ffn = 0;
  Index dense_layers = 0;  // of a mixture of experts, at its start
  bool latent_attention = false;

  double matrices_of_ffn() const { return gated ? 3 : 2; }
  bool is_moe(Index layer) const { return experts > 0 && layer >= dense_layers; }
};

/// Of a latent attention (DeepSeek-V2, arXiv:2405.04434): ranks of queries and of keys and values,
/// and the widths of a head.
struct LatentAttention {
  double query_rank = 1536;
  double kv_rank = 512;
  double rotary = 64;
  double value = 128;
};

/// Parameters of parts of the model (norms and biases are below a promille and left out).
double attention_parameters(const ModelShape& model);
double dense_ffn_parameters(const ModelShape& model);
/// Without the experts: router and shared experts.
double shared_moe_parameters(const ModelShape& model);
double expert_parameters(const ModelShape& model);  // of all experts of a layer
double total_parameters(const ModelShape& model);
/// Those a token meets.
double active_parameters(const ModelShape& model);

/// How an article counts operations: figures of different articles differ by 3 to 30 %.
enum class FlopsFormula {
  megatron,  // causal attention halved, logits included (Megatron-Core 0.14)
  full,      // attention not halved (llm-foundry)
  hardware,  // `full` with the recomputed forward pass (arXiv:2104.04473, equation 3)
  six_n,     // 6 operations a parameter and token
};
FlopsFormula flops_formula(const std::string& name);  // throws Error(usage)
const char* to_string(FlopsFormula formula);

/// Operations of a step of `sequences` sequences.
double step_flops(const ModelShape& model, FlopsFormula formula, double sequence, double sequences);

}  // namespace mpitron::plan
