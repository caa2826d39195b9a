#pragma once
#include <vector>

#include "config/model_config.h"
#include "ops/attention/rotary.h"

namespace mpitron::nn {

/// cos and sin of positions 0 .. s-1 in `dtype` (the reference casts them to the activations'
/// type), on the device.
ops::RotaryTables make_rotary_tables(device::Device& device, const config::ModelConfig& config,
                                     Index s, DType dtype);

/// The same for layers with a window, which have a base of their own (--rotary-base-local) and
/// plain frequencies; empty where they have that of all layers.
ops::RotaryTables make_window_rotary_tables(device::Device& device,
                                            const config::ModelConfig& config, Index s,
                                            DType dtype);

/// Patches of an image, `edge` x `edge` by rows, and how they count their places.
struct PatchGrid {
  Index edge;
  bool columns_first = false;  // the column turns the first half of the angles, not the row
  Index first_place = 0;       // of rows and columns
  Index unturned = 0;          // positions behind the patches that do not turn: class tokens
};

/// The same of patches, [edge edge + unturned, r]: the row turns the first half of the angles, with
/// the frequencies of heads half as wide, the column the other one (Qwen2-VL's encoder, Wang et al.
/// 2024), or the other way round (Llama 4's).
ops::RotaryTables make_grid_rotary_tables(device::Device& device, const config::ModelConfig& config,
                                          const PatchGrid& grid, DType dtype);

/// The factors of queries at positions 0 .. s-1 in layers that do not rotate, [s, 1], fp32, on the
/// device; absent without --query-scale-floor.
tensor::Tensor make_query_factors(device::Device& device, const config::ModelConfig& config,
                                  Index s);

/// Angles per position of a rotary embedding, and the factor on cos and sin.
struct RotaryFrequencies {
  std::vector<double> inverse;  // [r], radians per position; fp32 values
  double concentration = 1;     // YaRN's attention factor
  double position_divisor = 1;  // position interpolation (Chen et al. 2023)
};

/// base^(-2i / dim) for 2i < dim, dim = head dimension * rotary_percent rounded down, odd or even,
/// with llama 3.1's or YaRN's scaling where the configuration asks for it (Peng et al. 2023).
/// Computed in fp32 as the reference does.
RotaryFrequencies rotary_frequencies(const config::ModelConfig& config);

/// Llama 3.1's rescaling of long wavelengths: low frequency factor 1, high 4 or another from 1 on,
/// old context 8192.
std::vector<double> llama3_scaled(std::vector<double> inverse, double factor,
                                  double high_factor = 4);

/// YaRN's blend of interpolated and plain frequencies.
struct YarnScaling {
  double factor = 1;
  double beta_fast = 32, beta_slow = 1;
  double original_positions = 4096;
  bool whole_dimensions = true;  // the ramp begins and ends at whole dimensions
};
std::vector<double> yarn_scaled(const std::vector<double>& inverse, double base,
                                const YarnScaling& scaling);

/// 0.1 mscale ln(factor) + 1 for factors above 1.
double yarn_mscale(double factor, double mscale);

}  // namespace mpitron::nn
