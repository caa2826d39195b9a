#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "models/gpt/gpt_model.h"
#include "support/golden_tables.h"
#include "support/host_runtime.h"
#include "support/tensors.h"
#include "train/parity/recorded_case.h"

namespace mpitron::models {
namespace prediction_losses_test {

std::filesystem::path folder_of(const std::string& name) {
  return test::golden_folder() + "/curves/" + name;
}

/// The mean cross entropy of recorded logits, [b, s, v], where position i is to say the label of
/// position i + depth; what lies behind the end does not count.
double mean_loss(const io::SafetensorsFile::Tensor& recorded, const train::HostMicrobatch& rows,
                 Index depth) {
  const auto logits = recorded.as<float>();
  const Index s = recorded.shape.at(1), v = recorded.shape.at(2);
  double sum = 0, count = 0;
  for (Index sample = 0; sample < rows.samples; ++sample) {
    for (Index position = 0; position + depth < s; ++position) {
      const Index row = (sample * s + position) * v;
      const auto label = static_cast<std::size_t>(sample * s + position + depth);
      double exponentials = 0;
      for (Index word = 0; word < v; ++word) {
        exponentials += std::exp(static_cast<double>(logits[row + word]));
      }
      const double weight = static_cast<double>(rows[kLossMask][label]);
      sum += weight *
             (std::log(exponentials) - static_cast<double>(logits[row + rows[kLabels][label]]));
      count += weight;
    }
  }
  return sum / count;
}

class PredictionLosses : public ::testing::TestWithParam<std::string> {};

/// The losses of every depth of multi-token prediction, before training, are those of the
/// reference's logits.
TEST_P(PredictionLosses, AreThoseOfTheReferencesLogits) {
  if (!std::filesystem::exists(folder_of(GetParam()))) {
    GTEST_SKIP() << "no recorded run " << GetParam() << " (set MPITRON_GOLDEN_DIR)";
  }
  const device::HostRuntime runtime;
  train::RecordedCase recorded(folder_of(GetParam()));
  config::ModelConfig config = config::parse_run_config(recorded.flags(), 1).model;
  const auto device = device::make_device("host");
  const io::SafetensorsFile file(folder_of(GetParam()) / "logits.safetensors");
  config.padded_vocab_size = recorded.first_logits().columns;
  GptModel model(config, *device);
  model.initialize();
  recorded.load_weights(*device, model.parameters());
  const train::HostMicrobatch rows = recorded.rows(0, recorded.first_logits().samples);
  autograd::LayerSums sums;
  autograd::Context context{.device = *device, .recorder = {.auxiliary = {.sums = &sums}}};
  model.loss(context, train::upload(model, rows).batch);
  const Index depths = config.mtp_num_layers.value_or(0);
  ASSERT_GE(depths, 1);
  const std::vector<double> losses = sums.of("mtp loss", depths);
  for (Index depth = 1; depth <= depths; ++depth) {
    const auto& logits = file.at("first_microbatch_mtp_" + std::to_string(depth));
    EXPECT_NEAR(losses.at(static_cast<std::size_t>(depth - 1)), mean_loss(logits, rows, depth),
                2e-5)
        << "depth " << depth;
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, PredictionLosses,
                         ::testing::Values("llama-mtp", "llama-mtp2-per-token"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace prediction_losses_test
}  // namespace mpitron::models
