#include "device/launch_profile.h"

#include <gtest/gtest.h>

#include "kernels/elementwise.h"

namespace mpitron::device {
namespace {

class LaunchProfileTest : public ::testing::Test {
 protected:
  void fill(Index count) {
    launch(device_->stream(),
           kernels::Fill{.x = TensorView(memory_.data(), DType::f32, {count}), .value = 1});
  }
  void scale(Index count) {
    const TensorView x(memory_.data(), DType::f32, {count});
    launch(device_->stream(), kernels::Scale{.x = x, .y = x, .factor = 2});
  }

  std::unique_ptr<Device> device_ = make_device("reference");
  std::vector<float> memory_ = std::vector<float>(1024);
};

TEST_F(LaunchProfileTest, SumsByKernelAndBySize) {
  LaunchProfile profile(*device_);
  fill(16);
  fill(16);
  fill(32);
  scale(16);
  EXPECT_EQ(profile.sizes().size(), 3u);
  const auto kernels = profile.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  const auto& fills = kernels[0].kernel == "fill" ? kernels[0] : kernels[1];
  EXPECT_EQ(fills.kernel, "fill");
  EXPECT_EQ(fills.calls, 3);
  EXPECT_EQ(fills.total_bytes, 4.0 * (16 + 16 + 32));
  EXPECT_GT(profile.seconds(), 0);
  EXPECT_GE(kernels[0].seconds, kernels[1].seconds);
}

TEST_F(LaunchProfileTest, ObservesOnlyWhileItLives) {
  {
    LaunchProfile outer(*device_);
    {
      LaunchProfile inner(*device_);
      fill(8);
      EXPECT_EQ(inner.kernels().size(), 1u);
    }
    EXPECT_TRUE(outer.kernels().empty());
    fill(8);
    EXPECT_EQ(outer.kernels().at(0).calls, 1);
    outer.clear();
    EXPECT_TRUE(outer.kernels().empty());
  }
  fill(8);  // no observer: must not touch the dead profiles
  EXPECT_EQ(memory_[7], 1.f);
}

TEST_F(LaunchProfileTest, TableNamesEveryKernelAndTheRest) {
  LaunchProfile profile(*device_);
  fill(256);
  const std::string table = profile.table(2 * profile.seconds(), true);
  EXPECT_NE(table.find("fill"), std::string::npos);
  EXPECT_NE(table.find("50.00%"), std::string::npos);
  EXPECT_NE(table.find("outside kernels"), std::string::npos);
}

}  // namespace
}  // namespace mpitron::device
