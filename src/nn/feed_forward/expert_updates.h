#pragma once
#include <vector>

#include "autograd/recomputable.h"
#include "nn/base/builder.h"
#include "ops/linear/low_rank.h"

namespace mpitron::nn {

/// The low-rank updates of one linear layer of a rank's experts, for each of its parts
/// (nn/base/low_rank_updates.h). All experts of a layer have the rank and factor of its first one.
class ExpertUpdates {
 public:
  struct Part {
    const char* name = "";
    Index out = 0;
    ops::OutputBlocks blocks = {};
  };

  ExpertUpdates() = default;
  /// `experts`: where each expert's parameters are made.
  ExpertUpdates(const std::vector<Builder>& experts, Index in, const std::vector<Part>& parts);

  bool empty() const { return updates_.empty(); }
  /// y [m, out] of the rows x [m, in], counts[e] of them of expert e after expert.
  autograd::Var add(autograd::Context& context, const autograd::Recomputable& x, autograd::Var y,
                    const std::vector<Index>& counts) const;

 private:
  struct Update {
    std::vector<Parameter*> a, b;  // of each expert
    double scale = 0;
    ops::OutputBlocks blocks;
  };

  std::vector<Update> updates_;
};

}  // namespace mpitron::nn
