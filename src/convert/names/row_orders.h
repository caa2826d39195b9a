#pragma once
#include <vector>

#include "config/model_config.h"
#include "convert/names/name_entry.h"

namespace mpitron::convert {

/// `count` rows that lie at row `ours` of our tensor and at row `theirs` of their tensors, which
/// count as one below the other.
struct RowMove {
  Index ours = 0, theirs = 0, count = 0;
  bool operator==(const RowMove&) const = default;
};

/// Returns the moves of a tensor whose rows are so ordered; `rows`: of theirs. Each row is moved
/// once.
std::vector<RowMove> moves_of(Rows order, const config::ModelConfig& model, Index rows);

}  // namespace mpitron::convert
