#include "nn/attention/rotary_embedding.h"

#include <cmath>

#include "nn/attention/rotary_frequencies.h"
#include "tensor/host_copy.h"

namespace mpitron::nn {
namespace {

/// Stores a value in the tensor's type; only at start-up, so a switch per element does not matter.
void store(const tensor::Tensor& table, Index at, double value) {
  if (table.dtype() == DType::f64) {
    table.data<double>()[at] = value;
    return;
  }
  visit_dtype(table.dtype(),
              [&]<class T>() { table.data<T>()[at] = static_cast<T>(static_cast<float>(value)); });
}

}  // namespace

/// cos and sin of position * inverse frequency, times YaRN's concentration. A device that computes
/// nothing needs no values.
ops::RotaryTables make_rotary_tables(device::Device& device, const config::ModelConfig& config,
                                     Index s, DType dtype) {
  const RotaryFrequencies frequencies = rotary_frequencies(config);
  const Index r = static_cast<Index>(frequencies.inverse.size());
  const tensor::Tensor cos = tensor::empty_on_host(device, {s, r}, dtype);
  const tensor::Tensor sin = tensor::empty_on_host(device, {s, r}, dtype);
  const Index filled = device.computes() ? s : 0;
  for (Index position = 0; position < filled; ++position) {
    const double scaled = static_cast<double>(position) / frequencies.position_divisor;
    for (Index i = 0; i < r; ++i) {
      // The reference forms the angle in fp32.
      const float angle = static_cast<float>(scaled) *
                          static_cast<float>(frequencies.inverse[static_cast<std::size_t>(i)]);
      store(cos, position * r + i,
            std::cos(static_cast<double>(angle)) * frequencies.concentration);
      store(sin, position * r + i,
            std::sin(static_cast<double>(angle)) * frequencies.concentration);
    }
  }
  return {.cos = tensor::to_device(device, cos),
          .sin = tensor::to_device(device, sin),
          .interleaved = config.rotary_interleaved};
}

}  // namespace mpitron::nn
