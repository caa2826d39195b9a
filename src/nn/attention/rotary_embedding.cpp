// Makes tables of rotary angles and stretches their frequencies as the model's configuration says
// (linear, Llama 3, YaRN). Angles are formed in fp32, as in the reference.
#include "nn/attention/rotary_embedding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

ops::RotaryTables make_window_rotary_tables(device::Device& device,
                                            const config::ModelConfig& config, Index s,
                                            DType dtype) {
  if (!config.rotary_base_local) {
    return {};
  }
  config::ModelConfig local = config;
  local.rotary_base = *config.rotary_base_local;
  local.use_rope_scaling = false;
  local.rope_type = config::RopeType::rope;
  local.rotary_seq_len_interpolation_factor.reset();
  return make_rotary_tables(device, local, s, dtype);
}

/// A row and a column are looked up in the table of one axis.
ops::RotaryTables make_grid_rotary_tables(device::Device& device, const config::ModelConfig& config,
                                          const PatchGrid& grid, DType dtype) {
  config::ModelConfig half = config;
  half.kv_channels = config.kv_channels / 2;
  const std::vector<double> inverse = rotary_frequencies(half).inverse;
  const Index each = static_cast<Index>(inverse.size()), patches = grid.edge * grid.edge;
  const Shape shape{patches + grid.unturned, 2 * each};
  const tensor::Tensor cos = tensor::empty_on_host(device, shape, dtype);
  const tensor::Tensor sin = tensor::empty_on_host(device, shape, dtype);
  const Index filled = device.computes() ? cos.numel() : 0;
  for (Index at = 0; at < filled; ++at) {
    const Index patch = at / (2 * each), i = at % (2 * each);
    const bool of_column = (i < each) == grid.columns_first;
    const Index place = grid.first_place + (of_column ? patch % grid.edge : patch / grid.edge);
    const float angle = static_cast<float>(patch < patches ? place : 0) *
                        static_cast<float>(inverse[static_cast<std::size_t>(i % each)]);
    store(cos, at, std::cos(static_cast<double>(angle)));
    store(sin, at, std::sin(static_cast<double>(angle)));
  }
  return {.cos = tensor::to_device(device, cos),
          .sin = tensor::to_device(device, sin),
          .interleaved = config.rotary_interleaved};
}

/// 1 + growth ln(1 + floor((p + 1) / floor)).
tensor::Tensor make_query_factors(device::Device& device, const config::ModelConfig& config,
                                  Index s) {
  if (!config.query_scale) {
    return {};
  }
  const tensor::Tensor factors = tensor::empty_on_host(device, {s, 1}, DType::f32);
  const Index filled = device.computes() ? s : 0;
  for (Index position = 0; position < filled; ++position) {
    const auto steps = static_cast<double>((position + 1) / config.query_scale->floor);
    store(factors, position, 1 + config.query_scale->growth * std::log1p(steps));
  }
  return tensor::to_device(device, factors);
}

namespace {

constexpr double kLlama3Context = 8192, kLlama3LowFactor = 1;

/// The (fractional) dimension whose wavelength makes `rotations` turns over the original positions.
double yarn_dimension(double rotations, double dim, double base, double original_positions) {
  return dim * std::log(original_positions / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(base));
}

}  // namespace

/// Long waves turn `factor` times slower, short ones as before, those between by a mean of both.
std::vector<double> llama3_scaled(std::vector<double> inverse, double factor, double high_factor) {
  for (double& f : inverse) {
    const double wavelength = 2 * std::numbers::pi / f;
    if (wavelength > kLlama3Context / kLlama3LowFactor) {
      f /= factor;
    } else if (wavelength > kLlama3Context / high_factor) {
      const double smooth =
          (kLlama3Context / wavelength - kLlama3LowFactor) / (high_factor - kLlama3LowFactor);
      f = (1 - smooth) * f / factor + smooth * f;
    }
  }
  return inverse;
}

/// Stretches frequencies by dimensions: between `low` and `high` a ramp leads from the plain to the
/// slower frequencies (Peng et al. 2023).
std::vector<double> yarn_scaled(const std::vector<double>& inverse, double base,
                                const YarnScaling& scaling) {
  const double dim = 2.0 * static_cast<double>(inverse.size());
  double low = yarn_dimension(scaling.beta_fast, dim, base, scaling.original_positions);
  double high = yarn_dimension(scaling.beta_slow, dim, base, scaling.original_positions);
  low = std::max(scaling.whole_dimensions ? std::floor(low) : low, 0.0);
  high = std::min(scaling.whole_dimensions ? std::ceil(high) : high, dim - 1);
  if (low == high) {
    high += 0.001;
  }
  std::vector<double> scaled(inverse.size());
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    const double plain = 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    scaled[i] = inverse[i] / scaling.factor * (1 - plain) + inverse[i] * plain;
  }
  return scaled;
}

double yarn_mscale(double factor, double mscale) {
  return factor > 1 ? 0.1 * mscale * std::log(factor) + 1 : 1;
}

/// 1 / base^(i / dim) for even i, formed in fp32 as the reference does.
RotaryFrequencies rotary_frequencies(const config::ModelConfig& config) {
  const Index dim =
      static_cast<Index>(static_cast<double>(config.rotary_head_dim()) * config.rotary_percent);
  RotaryFrequencies result;
  for (Index i = 0; i < dim; i += 2) {
    const float exponent = static_cast<float>(i) / static_cast<float>(dim);
    result.inverse.push_back(1.f / std::pow(static_cast<float>(config.rotary_base), exponent));
  }
  if (config.use_rope_scaling) {
    result.inverse = llama3_scaled(result.inverse, config.rope_scaling_factor,
                                   config.rope_scaling_high_freq_factor);
  }
  if (config.rope_type == config::RopeType::yarn) {
    const double factor = config.rotary_scaling_factor;
    result.inverse =
        yarn_scaled(result.inverse, static_cast<double>(config.rotary_base),
                    {.factor = factor, .whole_dimensions = config.yarn_whole_dimensions});
    result.concentration =
        yarn_mscale(factor, config.mscale) / yarn_mscale(factor, config.mscale_all_dim);
  }
  if (config.rotary_seq_len_interpolation_factor) {
    result.position_divisor = static_cast<double>(*config.rotary_seq_len_interpolation_factor);
  }
  return result;
}

}  // namespace mpitron::nn
