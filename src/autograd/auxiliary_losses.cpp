// Collects sums that layers tell, on the device, and reads them once a step: each read waits for
// the stream.
#include "autograd/auxiliary_losses.h"

#include <algorithm>
#include <limits>

#include "tensor/host_copy.h"
#include "utils/check.h"

namespace mpitron::autograd {

void LayerSums::add(std::string_view name, Index layer, std::span<const double> row) {
  auto rows = sums_.find(name);
  if (rows == sums_.end()) {
    rows = sums_.emplace(name, Rows{}).first;
  }
  std::vector<double>& sum = rows->second[layer];
  sum.resize(row.size());
  std::ranges::transform(sum, row, sum.begin(), std::plus<>{});
}

void LayerSums::add(device::Device& device, std::string_view name, Index layer,
                    const tensor::Tensor& value) {
  if (device.tensors_on_host()) {
    add(name, layer, *value.data<double>());
    return;
  }
  unread_.push_back({std::string(name), layer});
  unread_values_.push_back(value);
}

std::vector<double> LayerSums::running_mean(std::string_view name, Index layer,
                                            std::span<const double> row) {
  add(name, layer, row);
  const auto count = static_cast<double>(++counted_[{std::string(name), layer}]);
  std::vector<double> mean = sums_.find(name)->second[layer];
  std::ranges::for_each(mean, [count](double& sum) { sum /= count; });
  return mean;
}

void LayerSums::raise(std::string_view name, Index layer, std::span<const double> row) {
  auto rows = largest_.find(name);
  if (rows == largest_.end()) {
    rows = largest_.emplace(name, Rows{}).first;
  }
  std::vector<double>& largest = rows->second[layer];
  largest.resize(row.size(), std::numeric_limits<double>::lowest());
  std::ranges::transform(largest, row, largest.begin(),
                         [](double a, double b) { return std::max(a, b); });
}

std::vector<double> LayerSums::largest(std::string_view name, Index layers, Index width) const {
  std::vector<double> result(static_cast<std::size_t>(layers * width),
                             std::numeric_limits<double>::lowest());
  if (const auto rows = largest_.find(name); rows != largest_.end()) {
    for (const auto& [layer, row] : rows->second) {
      std::ranges::copy(row, result.begin() + (layer - 1) * width);
    }
  }
  return result;
}

void LayerSums::read(device::Device& device) {
  if (unread_.empty()) {
    return;
  }
  const std::vector<tensor::Tensor> values = tensor::to_host(device, unread_values_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    add(unread_[i].name, unread_[i].layer, *values[i].data<double>());
  }
  unread_.clear();
  unread_values_.clear();
}

void LayerSums::clear() {
  sums_.clear();
  largest_.clear();
  counted_.clear();
  unread_.clear();
  unread_values_.clear();
}

std::vector<double> LayerSums::of(std::string_view name, Index layers, Index width) const {
  std::vector<double> result(static_cast<std::size_t>(layers * width));
  if (const auto rows = sums_.find(name); rows != sums_.end()) {
    for (const auto& [layer, sum] : rows->second) {
      MPITRON_CHECK(layer >= 1 && layer <= layers && static_cast<Index>(sum.size()) == width, layer,
                    layers, sum.size(), width);
      std::ranges::copy(sum, result.begin() + (layer - 1) * width);
    }
  }
  return result;
}

}  // namespace mpitron::autograd
