#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/formats/host_tensor.h"

namespace mpitron::convert {

/// A model's tensors under the names of some format, read one at a time.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// In the order in which reading is cheapest.
  virtual const std::vector<TensorInfo>& tensors() const = 0;
  /// A tensor of the list. The result may view memory of the source. Error(data) names file and
  /// tensor.
  virtual HostTensor read(const std::string& name) = 0;

  /// Null where there is none.
  const TensorInfo* find(const std::string& name) const;
  Index bytes() const;
};

/// The same tensors in one floating-point type.
std::unique_ptr<TensorSource> cast_source(TensorSource& source, DType dtype);

/// Told after each tensor: bytes so far, of how many, and what was just done.
using Progress = std::function<void(Index done, Index total, const std::string& name)>;

}  // namespace mpitron::convert
