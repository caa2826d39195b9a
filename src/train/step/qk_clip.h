#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "autograd/auxiliary_losses.h"
#include "comm/groups/group.h"
#include "config/model_config.h"
#include "optim/optimizer.h"
#include "parallel/data_parallel.h"

namespace mpitron::train {

/// --qk-clip (Kimi Team 2025): where the largest score of a query group's heads in a step is above
/// the threshold t, queries and keys of the group are multiplied by eta^alpha and eta^(1 - alpha),
/// eta = t / score, after the update. Without the option it only tells the largest score.
class QkClip {
 public:
  explicit QkClip(const config::ModelConfig& model) : model_(model) {}

  /// The largest score of the step over all ranks, which all get.
  double collect(const autograd::LayerSums& sums, comm::Group& all);
  /// Applies the factors to a rank's pieces, in the optimizer's order, masters and parameters
  /// alike.
  void apply(optim::Optimizer& optimizer, std::span<const parallel::ParameterPiece> pieces) const;
  /// Factor of each row of the matrix `name` of a layer, from 1; empty: all are 1.
  std::vector<float> row_factors(std::string_view name, Index layer) const;

 private:
  /// Rows of a query group or head that lie side by side, whose factor is eta to this power.
  struct RowPart {
    Index rows;
    double power;
  };
  /// The parts of each group's rows, as they lie; empty where the matrix makes no queries or keys.
  std::vector<RowPart> parts_of(std::string_view name) const;

  const config::ModelConfig& model_;
  std::vector<double> largest_;  // [layers, heads]
};

}  // namespace mpitron::train
