#pragma once
#include <deque>
#include <vector>

#include "checkpoint/read/checkpoint_reader.h"
#include "config/model_config.h"

namespace mpitron::train {

/// Learned positions of a checkpoint whose images had another size: the tables are read as they
/// are, and resized to the run's.
class PositionTables {
 public:
  /// Puts tables of the checkpoint's size in the place of those targets, in the host's memory, that
  /// are pieces of tables of another size.
  PositionTables(const checkpoint::File& file, const config::ModelConfig& model,
                 std::vector<checkpoint::LoadTarget>& targets);

  /// After they have been read: fills the pieces that stood there before. Error(data) where a table
  /// is of no grid.
  void resize() const;

 private:
  struct Table {
    config::VisionConfig vision;  // of the run's images
    Index rows = 0;               // of the checkpoint
    std::vector<float> values;
    tensor::ShardedTensor piece;
  };

  std::deque<Table> tables_;  // whose values targets refer to
};

}  // namespace mpitron::train
