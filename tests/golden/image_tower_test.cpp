// Recorded image encoders without a language model.
#include "nn/layers/image_tower.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "io/arrays/safetensors.h"
#include "ops/elementwise/initialize.h"
#include "support/golden_folder.h"
#include "support/tensors.h"

namespace mpitron::nn {
namespace image_tower_test {

std::vector<double> numbers(const io::SafetensorsFile::Tensor& recorded) {
  const auto values = recorded.as<float>();
  std::vector<double> result;
  for (Index i = 0; i < values.size(); ++i) {
    result.push_back(static_cast<double>(values[i]));
  }
  return result;
}

/// [T, 3, 32, 32] -> [16, T, 192] of patches of 8 pixels.
std::vector<double> patches_of(const io::SafetensorsFile::Tensor& images) {
  const std::vector<double> pixels = numbers(images);
  std::vector<double> result;
  const Index tiles = images.shape[0];
  for (Index i = 0; i < 16 * tiles * 192; ++i) {
    const Index within = i % 192, tile = i / 192 % tiles, patch = i / 192 / tiles;
    const Index y = patch / 4 * 8 + within % 64 / 8, x = patch % 4 * 8 + within % 8;
    result.push_back(
        pixels[static_cast<std::size_t>(((tile * 3 + within / 64) * 32 + y) * 32 + x)]);
  }
  return result;
}

class ImageTowers : public ::testing::TestWithParam<const char*> {};

TEST_P(ImageTowers, ComputeWhatTheReferenceDid) {
  const std::filesystem::path folder =
      std::filesystem::path(test::golden_folder()) / "vision/curves" / GetParam();
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no recorded run " << folder << " (set MPITRON_GOLDEN_DIR)";
  }
  const auto device = device::make_device("reference");
  const bool clip = std::string(GetParam()).starts_with("clip");
  config::ModelConfig config;
  config.num_layers = 2;
  config.hidden_size = 32;
  config.ffn_hidden_size = 128;
  config.num_attention_heads = 4;
  config.kv_channels = 8;
  config.num_query_groups = 4;
  config.softmax_scale = 1 / std::sqrt(8.0);
  config.activation = config::ActivationKind::gelu_erf;
  config.attention_dropout = 0;
  config.hidden_dropout = 0;
  const config::VlmConfig vlm{.tower = clip ? config::TowerKind::clip : config::TowerKind::siglip,
                              .tower_layers = 2,
                              .tile = 32,
                              .patch = 8};
  const auto groups = comm::groups_of_one(*comm::make_single_world());
  autograd::ParameterList parameters;
  const ImageTower tower(Builder({config, groups, parameters}), vlm, 0);
  const io::SafetensorsFile weights(folder / "weights.safetensors");
  for (autograd::Parameter& parameter : parameters) {
    ops::initialize(*device, parameter, DType::f32, 1);
    test::set_values(parameter.value, numbers(weights.at(parameter.name)));
  }
  const io::SafetensorsFile batches(folder / "batches.safetensors");
  const auto& images = batches.at("images");
  autograd::Context context{.device = *device, .mode = autograd::Mode::evaluate};
  const autograd::Var output = tower.forward(
      context,
      test::make_tensor(*device, {16, images.shape[0], 192}, DType::f32, patches_of(images)));
  const io::SafetensorsFile logits(folder / "logits.safetensors");
  const std::vector<double> expected = numbers(logits.at("output"));
  const std::vector<double> found = test::values_of(output.value);  // [s, T, h]
  const Index tiles = images.shape[0], s = vlm.tower_positions();
  double worst = 0;
  for (Index i = 0; i < static_cast<Index>(found.size()); ++i) {
    const Index h = i % 32, tile = i / 32 % tiles, position = i / 32 / tiles;
    const double recorded = expected[static_cast<std::size_t>((tile * s + position) * 32 + h)];
    worst = std::max(worst, std::abs(found[static_cast<std::size_t>(i)] - recorded));
  }
  EXPECT_LE(worst, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Recorded, ImageTowers, ::testing::Values("clip-vit", "siglip-vit"),
                         [](const auto& info) { return std::string(info.param).substr(0, 4); });

}  // namespace image_tower_test
}  // namespace mpitron::nn
