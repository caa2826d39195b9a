#pragma once
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "autograd/parameter.h"
#include "device/device.h"
#include "kernels/linear/packed_formats.h"

namespace mpitron::autograd {

/// Weights as generation reads them: each packed when a product first uses it. The parameters must
/// live longer and keep their values, but for those that were taken.
class PackedWeights {
 public:
  PackedWeights(device::Device& device, kernels::WeightFormat format)
      : device_(device), format_(format) {}

  kernels::WeightFormat format() const { return format_; }
  /// Whether products read packed weights: on a GPU they read numbers from the parameters
  /// themselves, and integers packed.
  bool packs() const { return device_.tensors_on_host() || kernels::facts(format_).group > 0; }
  const Tensor& of(const Parameter& weight);
  /// Packs a weight and gives up the memory of its value, which keeps its shape alone. Only for
  /// weights that nobody reads but by `of`.
  void take(Parameter& weight);
  /// Returns a matrix that some heads multiply with, made of a weight: `make` gives [heads, n, k].
  /// `part` tells apart what is made of one weight.
  const Tensor& of_heads(const Parameter& weight, int part, const std::function<Tensor()>& make);
  /// Counts the bytes of all that are packed so far.
  Index bytes() const { return bytes_; }

 private:
  Tensor pack(const Tensor& heads);

  device::Device& device_;
  kernels::WeightFormat format_;
  Index bytes_ = 0;
  std::unordered_map<const Parameter*, Tensor> whole_;
  std::map<std::pair<const Parameter*, int>, Tensor> of_heads_;
};

}  // namespace mpitron::autograd
