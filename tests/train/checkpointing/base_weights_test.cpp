#include "train/checkpointing/base_weights.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/golden_folder.h"
#include "train/tiny_run.h"
#include "utils/error.h"

namespace mpitron::train {
namespace base_weights_test {

TEST(BaseWeights, AnAdapterOfAnotherModelIsRefused) {
  const std::string folder = test::golden_folder() + "/generation/lora/all_linear";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << ": not in this set of reference data";
  }
  config::RunConfig config =
      tiny_run({"--swiglu", "--ffn-hidden-size", "24", "--normalization", "RMSNorm",
                "--disable-bias-linear", "--position-embedding-type", "rope"});
  config.model.lora = adapter_config(folder);
  EXPECT_GT(config.model.lora->rank, 0);
  const auto device = device::make_device("host");
  TinyTraining tiny(*device, config);
  const std::string text = test::message_of([&] { load_adapter(tiny.model, tiny.step, folder); });
  EXPECT_NE(text.find("is for another model"), std::string::npos) << text;
  EXPECT_NE(text.find("layers.0.self_attn.q_proj.lora_A.weight is "), std::string::npos) << text;
}

}  // namespace base_weights_test
}  // namespace mpitron::train
