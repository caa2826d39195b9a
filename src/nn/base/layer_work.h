#pragma once
#include <optional>
#include <vector>

#include "config/model_config.h"

namespace mpitron::nn {

/// How much of a layer's work on a token a rank has.
enum class Share {
  whole,   // all of it, on every tensor parallel rank
  along,   // on its piece of the sequence with sequence parallelism, else all of it
  tensor,  // its heads or columns
  visit,   // all of it, for each expert that a token visits
};

/// A product of the forward pass: a token's row of `inner` numbers becomes one of `outer`. Widths
/// are those of all ranks together; of experts those of one of them.
struct ProductWork {
  enum class Cut { none, inner, outer };  // among the tensor parallel ranks
  Index inner = 0;
  Index outer = 0;
  Cut cut = Cut::none;
  bool of_experts = false;
  bool narrow = true;  // takes factors of 8 bits where the layer has them
  /// The word of --recompute-modules that has the backward pass do it again.
  std::optional<config::RecomputeModule> again_by = std::nullopt;

  double weights() const { return static_cast<double>(inner) * static_cast<double>(outer); }
};

/// Scores of all queries and keys of a sequence, and values weighed by them.
struct ScoreWork {
  Index heads = 0;
  Index key_width = 0;
  Index value_width = 0;
  bool causal = true;
  std::optional<Index> window;  // positions to the left that a query sees
  Index chunk = 0;              // positions whose keys a query sees; 0: all
};

/// Numbers of a token.
struct TokenNumbers {
  double count = 0;
  Share share = Share::whole;
  std::optional<config::RecomputeModule> again_by = std::nullopt;
};

/// Numbers that the forward pass leaves to the backward pass, and the word of --recompute-modules
/// that drops them.
struct KeptNumbers {
  double count = 0;
  Share share = Share::whole;
  std::optional<config::RecomputeModule> dropped_by = std::nullopt;
};

/// Work of half a layer on a token of a microbatch, its norm and its sum with the residual stream
/// included. A planner makes times and bytes of it; LayerCosts has the reference's formulas.
struct LayerWork {
  std::vector<ProductWork> products = {};
  std::optional<ScoreWork> scores = std::nullopt;
  std::vector<TokenNumbers> moved = {};  // read or written by kernels that memory bounds
  std::vector<KeptNumbers> kept = {};    // 16 bits each
  double passed = 0;                     // numbers of a token that context parallel ranks pass on
  Index regions = 0;                     // between which tensor parallel ranks exchange whole rows
  bool visits = false;                   // tokens travel to experts and back
  double launches = 0;                   // kernels of the forward pass

  LayerWork& operator+=(const LayerWork& other);
};

/// Returns the work of the norm in front of a branch and of the sum behind it.
LayerWork residual_work(const config::ModelConfig& model);
/// Returns the work of a norm behind a branch.
LayerWork norm_work(const config::ModelConfig& model);

/// Costs of half a layer on all ranks together, by the reference's formulas where it has one.
struct LayerCosts {
  double multiply_adds = 0;  // forward, per token; causal attention sees half the keys
  double weights = 0;        // without biases, norms of queries and keys, and routers
  double kept_bytes = 0;  // per token, 16 bits, for backward, with selective recomputation and the
                          // norm in front (Korthikanti et al. 2022)
  double state = 0;       // numbers carried from token to token, after seq_length tokens
  double conv_state = 0;  // those of them that are inputs of a convolution

  LayerCosts& operator+=(const LayerCosts& other) {
    multiply_adds += other.multiply_adds;
    weights += other.weights;
    kept_bytes += other.kept_bytes;
    state += other.state;
    conv_state += other.conv_state;
    return *this;
  }
};

/// Bytes that a branch keeps beside its own work: the input of its norm and the output, which the
/// first product reads, and the mask of its dropout.
inline double residual_bytes(const config::ModelConfig& model) {
  return static_cast<double>((2 + 2 + 1) * model.hidden_size);
}

}  // namespace mpitron::nn
