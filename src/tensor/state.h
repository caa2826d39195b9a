#pragma once
#include <string>

#include "tensor/shard.h"

namespace mpitron::tensor {

/// What this rank holds of a global tensor that outlives the run: elements
/// [begin, begin + value.numel()) of its shard, flat in row-major order of the shard's shape
/// (a distributed optimizer cuts shards anywhere).
struct ShardedTensor {
  std::string name;  // of the global tensor: "model/decoder.layers.3.mlp.linear_fc1.weight"
  Shape shape;       // of the global tensor
  Shard shard = {};
  Index begin = 0;
  TensorView value;  // contiguous; checkpoints want it in the host's memory (host_mirror.h)
  /// The number of rows depends on the layout (a padded vocabulary): rows that only one side has
  /// are left as they are.
  bool rows_may_differ = false;
  /// Another rank holds the same and saves it; here it is only loaded.
  bool saved_elsewhere = false;
};

/// Everyone who has state describes it to a visitor, which reads it (saving) or writes it
/// (loading). Tensors are described in the same order by every visit.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  virtual void tensor(const ShardedTensor& tensor) = 0;
  /// Values that are the same on all ranks.
  virtual void number(const std::string& name, Index& value) = 0;
  virtual void number(const std::string& name, double& value) = 0;
  virtual void text(const std::string& name, std::string& value) = 0;
};

}  // namespace mpitron::tensor
