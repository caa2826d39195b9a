#include "device/launch_check.h"

#include <gtest/gtest.h>

#include "kernels/elementwise/elementwise.h"

namespace mpitron::device {
namespace launch_check_test {

/// Keeps what a launch tells of itself.
class Listener final : public LaunchObserver {
 public:
  void before(const LaunchRecord& record) override { arguments = record.arguments(); }
  void after(const LaunchRecord&) override { ++launches; }
  void argument(const LaunchRecord&, const char*, const ConstTensorView&) override { ++tensors; }

  std::string arguments;
  int launches = 0, tensors = 0;
};

TEST(LaunchCheck, PassesLaunchesOnAndNamesTheirTensors) {
  const auto device = make_device("reference");
  Listener listener;
  std::get<ReferenceStream>(device->stream()).observer = &listener;
  std::array<float, 8> x{}, y{};
  const kernels::Scale scale{.x = TensorView{x.data(), DType::f32, {2, 4}},
                             .y = TensorView{y.data(), DType::f32, {2, 4}},
                             .factor = 2};
  {
    const LaunchCheck check(*device);
    launch(device->stream(), scale);
  }
  EXPECT_EQ(listener.launches, 1);
  EXPECT_EQ(listener.tensors, 2);
  EXPECT_NE(listener.arguments.find("x fp32[2, 4] at 0x"), std::string::npos) << listener.arguments;
  EXPECT_EQ(std::get<ReferenceStream>(device->stream()).observer, &listener);
}

}  // namespace launch_check_test
}  // namespace mpitron::device
