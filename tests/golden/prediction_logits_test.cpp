#include <algorithm>

#include <gtest/gtest.h>

#include "config/parse.h"
#include "models/gpt_model.h"
#include "support/golden_tables.h"
#include "support/host_runtime.h"
#include "support/tensors.h"
#include "train/parity/recorded_case.h"

namespace mpitron::models {
namespace {

std::filesystem::path folder_of(const std::string& name) {
  return test::golden_folder() + "/curves/" + name;
}

}  // namespace

class PredictionLogits : public ::testing::TestWithParam<std::string> {};

/// The logits of every depth of multi-token prediction, before training.
TEST_P(PredictionLogits, AreTheReferences) {
  if (!std::filesystem::exists(folder_of(GetParam()))) {
    GTEST_SKIP() << "no recorded run " << GetParam() << " (set MPITRON_GOLDEN_DIR)";
  }
  const device::HostRuntime runtime;
  train::RecordedCase recorded(folder_of(GetParam()));
  config::ModelConfig config = config::parse_run_config(recorded.flags(), 1).model;
  const auto device = device::make_device("host");
  const io::SafetensorsFile file(folder_of(GetParam()) / "logits.safetensors");
  config.padded_vocab_size = recorded.first_logits().shape.at(2);
  GptModel model(config, *device);
  model.initialize();
  recorded.load_weights(*device, model.parameters());
  const Index b = recorded.first_logits().shape.at(0), s = config.seq_length;
  const train::DeviceMicrobatch microbatch = train::upload(*device, recorded.rows(0, b));
  autograd::Context context{.device = *device, .mode = autograd::Mode::evaluate};
  const auto depths = model.prediction_logits(context, microbatch.batch);
  ASSERT_EQ(static_cast<Index>(depths.size()), config.mtp_num_layers.value_or(0));
  for (std::size_t depth = 0; depth < depths.size(); ++depth) {
    const auto expected = file.at("first_microbatch_mtp_" + std::to_string(depth + 1)).as<float>();
    const std::vector<double> got = test::values_of(depths[depth].value);
    for (Index i = 0; i < static_cast<Index>(got.size()); ++i) {
      const Index v = config.padded_vocab_size, position = i / (b * v), sample = i / v % b;
      ASSERT_NEAR(got[static_cast<std::size_t>(i)],
                  static_cast<double>(expected[(sample * s + position) * v + i % v]), 1e-4)
          << "depth " << depth + 1;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, PredictionLogits,
                         ::testing::Values("llama-mtp", "llama-mtp2-per-token"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace mpitron::models
