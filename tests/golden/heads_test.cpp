#include <filesystem>

#include <gtest/gtest.h>

#include "support/golden_folder.h"
#include "support/host_runtime.h"
#include "train/parity/replay.h"

namespace mpitron::train {
namespace heads_test {

class Heads : public ::testing::TestWithParam<const char*> {};

TEST_P(Heads, ContinueWhatTheReferenceComputed) {
  const std::filesystem::path folder =
      std::filesystem::path(test::golden_folder()) / "generation/heads" / GetParam();
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is not in MPITRON_GOLDEN_DIR";
  }
  RecordedCase recorded(folder);
  const auto device = device::make_device("host");
  const ReplayResult result = replay(*device, *comm::make_single_world(), recorded, {});
  EXPECT_EQ(result.iterations.size(), 24u);
  EXPECT_LE(result.max_relative_loss, 2e-5);
  EXPECT_LE(result.max_relative_grad_norm, result.tolerance.grad_norm);
  EXPECT_LE(result.max_absolute_logits, 2e-5);
  EXPECT_LE(result.max_last_logits, result.tolerance.last_logits);
  EXPECT_TRUE(result.pass());
}

INSTANTIATE_TEST_SUITE_P(Recorded, Heads, ::testing::Values("classification", "multiple-choice"),
                         [](const auto& info) {
                           return std::string(info.index == 0 ? "Classification"
                                                              : "MultipleChoice");
                         });

}  // namespace heads_test
}  // namespace mpitron::train
