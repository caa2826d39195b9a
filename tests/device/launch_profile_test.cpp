#include "device/launch_profile.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::device {
namespace launch_profile_test {

/// x += amount.
struct Raise {
  static constexpr const char* name = "raise";
  TensorView x;
  float amount = 1;
  template <class F>
  void views(F&& f) const {
    f("x", x);
  }
};
void run(ReferenceStream&, const Raise& k) {
  for (Index i = 0; i < k.x.numel(); ++i) {
    k.x.as<float>()[i] += k.amount;
  }
}

/// y = x.
struct Copy {
  static constexpr const char* name = "copy";
  ConstTensorView x;
  TensorView y;
  template <class F>
  void views(F&& f) const {
    f("x", x), f("y", y);
  }
};
void run(ReferenceStream&, const Copy& k) {
  std::copy_n(k.x.as<float>(), k.x.numel(), k.y.as<float>());
}

class LaunchProfileTest : public ::testing::Test {
 protected:
  TensorView view(Index count) { return {memory_.data(), DType::f32, {count}}; }
  void raise(Index count) { launch(device_->stream(), Raise{view(count)}); }
  void copy(Index count) { launch(device_->stream(), Copy{view(count), view(count)}); }

  std::unique_ptr<Device> device_ = make_device("reference");
  std::vector<float> memory_ = std::vector<float>(1024);
};

TEST_F(LaunchProfileTest, SumsByKernelAndBySize) {
  LaunchProfile profile(*device_);
  raise(16);
  raise(16);
  raise(32);
  copy(16);
  EXPECT_EQ(profile.sizes().size(), 3u);
  const auto kernels = profile.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  const auto& raises = kernels[0].kernel == "raise" ? kernels[0] : kernels[1];
  EXPECT_EQ(raises.kernel, "raise");
  EXPECT_EQ(raises.calls, 3);
  EXPECT_EQ(raises.total_bytes, 4.0 * (16 + 16 + 32));
  EXPECT_GT(profile.seconds(), 0);
  EXPECT_GE(kernels[0].seconds, kernels[1].seconds);
}

TEST_F(LaunchProfileTest, ObservesOnlyWhileItLives) {
  {
    LaunchProfile outer(*device_);
    {
      LaunchProfile inner(*device_);
      raise(8);
      EXPECT_EQ(inner.kernels().size(), 1u);
    }
    EXPECT_TRUE(outer.kernels().empty());
    raise(8);
    EXPECT_EQ(outer.kernels().at(0).calls, 1);
    outer.clear();
    EXPECT_TRUE(outer.kernels().empty());
  }
  raise(8);  // no observer: must not touch the dead profiles
  EXPECT_EQ(memory_[7], 3.f);
}

TEST_F(LaunchProfileTest, TableNamesEveryKernelAndTheRest) {
  LaunchProfile profile(*device_);
  raise(256);
  const std::string table = profile.table(2 * profile.seconds(), true);
  EXPECT_NE(table.find("raise"), std::string::npos);
  EXPECT_NE(table.find("50.00%"), std::string::npos);
  EXPECT_NE(table.find("outside kernels"), std::string::npos);
}

}  // namespace launch_profile_test
}  // namespace mpitron::device
