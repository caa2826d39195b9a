#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "train/parity/replay.h"

namespace mpitron::train {
namespace curves_test {

/// Recorded runs of the release, and behind them those of hybrids, later layers and images, where
/// they are.
std::vector<std::string> recorded_cases() {
  std::vector<std::string> names;
  for (const char* folder : {"curves", "hybrid/curves", "vision/curves"}) {
    const std::filesystem::path path = std::filesystem::path(test::golden_folder()) / folder;
    if (!std::filesystem::exists(path)) {
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      names.push_back(std::string(folder) + "/" + entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  std::ranges::replace(name, '/', '_');
  return name;
}

class Curves : public ::testing::TestWithParam<std::string> {};

TEST_P(Curves, ContinuesWhatTheReferenceComputed) {
  RecordedCase recorded(std::filesystem::path(test::golden_folder()) / GetParam());
  static const device::HostRuntime runtime;  // one for all cases of a process
  const auto device = device::make_device("host");
  const ReplayResult result = replay(*device, *comm::make_single_world(), recorded, {});
  EXPECT_EQ(result.iterations.size(), recorded.iterations().size());
  EXPECT_LE(result.max_relative_loss, result.tolerance.loss);
  EXPECT_LE(result.max_relative_grad_norm, result.tolerance.grad_norm);
  EXPECT_LE(result.max_absolute_logits, result.tolerance.logits);
  EXPECT_LE(result.max_layer_losses, result.tolerance.layer_losses);
  EXPECT_TRUE(result.buffers_agree);
  EXPECT_TRUE(result.pass());
}

INSTANTIATE_TEST_SUITE_P(Recorded, Curves, ::testing::ValuesIn(recorded_cases()), test_name);

}  // namespace curves_test
}  // namespace mpitron::train
