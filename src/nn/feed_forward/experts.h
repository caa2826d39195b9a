#pragma once
#include <vector>

#include "autograd/recomputable.h"
#include "nn/base/adapter_factors.h"
#include "nn/base/builder.h"
#include "ops/elementwise/activation.h"
#include "ops/linear/low_rank.h"

namespace mpitron::nn {

/// Rows of one expert that an adapter updates.
struct AdaptedRun {
  std::size_t expert = 0;
  autograd::AdaptedRows rows;
};

/// The low-rank updates of one linear layer of a rank's experts, for each of its parts
/// (nn/base/low_rank_updates.h). All experts of a layer have the rank and factor of its first one.
class ExpertUpdates {
 public:
  /// A part of `out` rows in the whole model, `blocks` on this rank: its `rows`, or `columns` of
  /// its inputs, lie here.
  struct Part {
    const char* name = "";
    Index out = 0;
    ops::OutputBlocks blocks = {};
    tensor::Shard rows = {}, columns = {};
  };

  ExpertUpdates() = default;
  /// `experts`: where each expert's parameters are made, whose inputs are `in` in the whole model.
  ExpertUpdates(const std::vector<Builder>& experts, Index in, const std::vector<Part>& parts);

  bool empty() const { return updates_.empty(); }
  /// y [m, out] of the rows x [m, in], counts[e] of them of expert e after expert.
  autograd::Var add(autograd::Context& context, const autograd::Recomputable& x, autograd::Var y,
                    const std::vector<Index>& counts) const;
  /// Adds to y [m, out] what adapters make of runs of the rows x [m, in].
  void adapt(autograd::Context& context, const autograd::Var& x, const autograd::Var& y,
             const std::vector<AdaptedRun>& runs) const;

 private:
  struct Update {
    std::vector<Parameter*> a, b;  // of each expert
    double scale = 0;
    ops::OutputBlocks blocks;
  };

  std::vector<Update> updates_;
  std::vector<std::vector<AdapterPlace>> places_;  // of each expert's parts
};

/// The experts of a layer that lie on this rank: each a linear_fc1, activation and linear_fc2 of
/// its own, computed together.
class Experts {
 public:
  explicit Experts(const Builder& builder);

  /// tokens [m, h], those of each expert after those of the one before it (`counts`), and the
  /// probability by which each weighs its expert [m]. With shards of experts, this rank's summand.
  /// `owners` [m]: numbers of the tokens' adapters, in generation (ops::ExpertInput).
  autograd::Var forward(autograd::Context& context, const autograd::Var& tokens,
                        const autograd::Var& probabilities, const std::vector<Index>& counts,
                        const tensor::Tensor& owners = {}) const;

 private:
  void make_updates(const std::vector<Builder>& experts, Index h, Index ffn);
  autograd::Recomputable activated(autograd::Context& context, const autograd::Var& x,
                                   const autograd::Var& probabilities) const;

  ops::ActivationSettings activation_;
  bool weighs_input_;  // the tokens instead of what the activation makes of them
  bool recompute_activation_;
  std::vector<Parameter*> fc1_weights_, fc2_weights_;
  std::vector<Parameter*> fc1_biases_, fc2_biases_;  // empty: layers without biases
  float fc2_bias_share_ = 1;                         // 0: another rank that shares them adds them
  ExpertUpdates fc1_updates_, fc2_updates_;
};

}  // namespace mpitron::nn
