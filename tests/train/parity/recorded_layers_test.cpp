#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "train/parity/replay.h"
#include "utils/error.h"

namespace mpitron::train {
namespace recorded_layers_test {

class RecordedLayersTest : public ::testing::Test {
 protected:
  void write(const char* losses, const char* layers) {
    std::ofstream(folder_.path() / "losses.json") << losses;
    std::ofstream(folder_.path() / "aux_losses.json") << layers;
  }
  test::TemporaryFolder folder_;
};

config::ModelConfig model_of(Index layers, const char* depth_pattern = "") {
  config::ModelConfig model;
  model.num_layers = layers;
  model.hybrid.depth_pattern = depth_pattern;
  return model;
}

constexpr const char* kLayers =
    R"({"per_layer_mean_over_microbatches": [{"iteration": 1, "z_loss": [0, 4]}]})";

TEST_F(RecordedLayersTest, ComparesLayerByLayer) {
  write(R"({"iterations": [{"mtp_1_loss": 2.5}]})", kLayers);
  const RecordedLayers recorded(folder_.path(), model_of(2));
  LayerReport report;
  EXPECT_EQ(recorded.difference(1, report), INFINITY);  // nothing was told
  report.losses.push_back({.name = "z_loss", .layers = {0, 4}, .layers_with_one = 1});
  report.losses.push_back({.name = "mtp_{} loss", .layers = {2.5}, .layers_with_one = 1});
  EXPECT_EQ(recorded.difference(1, report), 0);
  report.losses[0].layers = {0.25, 4.5};
  EXPECT_EQ(recorded.difference(1, report), 0.25);  // relative above 1
  report.losses[0].layers = {0, NAN};
  EXPECT_EQ(recorded.difference(1, report), INFINITY);
  EXPECT_EQ(recorded.difference(2, report), 0);  // not recorded
}

TEST_F(RecordedLayersTest, DepthsOfPredictionCountForTheFirstLayer) {
  write(R"({"iterations": [{}]})",
        R"({"per_layer_mean_over_microbatches": [{"z_loss": [7, 4, 0, 0]}]})");
  LayerReport report;
  report.losses.push_back({.name = "z_loss", .layers = {1, 4, 2, 4}, .layers_with_one = 4});
  EXPECT_EQ(RecordedLayers(folder_.path(), model_of(2)).difference(1, report), 0);
  EXPECT_GT(RecordedLayers(folder_.path(), model_of(4)).difference(1, report), 0.5);
}

/// Later releases give a depth a place of its own; with letters they count them as the decoder's.
TEST_F(RecordedLayersTest, DepthsOfLaterReleasesHaveTheirPlaces) {
  LayerReport report;
  report.losses.push_back({.name = "z_loss", .layers = {1, 4, 2, 5}, .layers_with_one = 4});
  write(R"({"iterations": [{}]})",
        R"({"per_layer_mean_over_microbatches": [{"z_loss": [1, 4, 2, 5]}]})");
  EXPECT_EQ(RecordedLayers(folder_.path(), model_of(2)).difference(1, report), 0);
  write(R"({"iterations": [{}]})",
        R"({"per_layer_mean_over_microbatches": [{"z_loss": [3, 9, 0]}]})");
  EXPECT_EQ(RecordedLayers(folder_.path(), model_of(2, "EE")).difference(1, report), 0);
}

TEST_F(RecordedLayersTest, BuffersAgreeToTheLastBit) {
  write(R"({"iterations": [{}], "final_buffers": {"bias": [0.5, -0.25]}})", kLayers);
  const RecordedLayers recorded(folder_.path(), model_of(2));
  const auto device = device::make_device("reference");
  autograd::ParameterList parameters;
  EXPECT_TRUE(recorded.buffers_agree(*device, parameters, 0));
  autograd::Buffer& bias =
      parameters.add_buffer({.name = "bias", .shape = {2}, .layer = 1, .value = {}});
  bias.value = test::make_tensor(*device, {2}, DType::f32, {0.5, -0.25});
  EXPECT_TRUE(recorded.buffers_agree(*device, parameters, 0));
  bias.value = test::make_tensor(*device, {2}, DType::f32, {0.5, -0.25000003});
  EXPECT_FALSE(recorded.buffers_agree(*device, parameters, 0));
  EXPECT_TRUE(recorded.buffers_agree(*device, parameters, 1e-6));
  bias.value = test::make_tensor(*device, {1}, DType::f32, {0.5});
  EXPECT_FALSE(recorded.buffers_agree(*device, parameters, 0));
  bias.name = "another";
  EXPECT_FALSE(recorded.buffers_agree(*device, parameters, 0));
}

TEST_F(RecordedLayersTest, ABrokenFileIsNamed) {
  write(R"({"iterations": []})", R"({"per_layer": []})");
  EXPECT_THROW(RecordedLayers(folder_.path(), model_of(2)), Error);
}

}  // namespace recorded_layers_test
}  // namespace mpitron::train
