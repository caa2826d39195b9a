#include "device/launch_observers.h"

#include <gtest/gtest.h>

#include "kernels/elementwise/elementwise.h"

namespace mpitron::device {

namespace launch_observers_test {

TEST(LaunchTrace, AddsEveryLaunchWhileItLives) {
  const auto device = make_device("reference");
  Trace trace;
  trace.start();
  std::array<float, 8> x{}, y{};
  const kernels::Scale scale{.x = TensorView{x.data(), DType::f32, {8}},
                             .y = TensorView{y.data(), DType::f32, {8}},
                             .factor = 2};
  launch(device->stream(), scale);
  {
    const LaunchTrace launches(*device, trace);
    launch(device->stream(), scale);
    launch(device->stream(), scale);
  }
  launch(device->stream(), scale);
  const std::vector<TraceSpan> spans = trace.stop();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_STREQ(spans[0].name.data(), kernels::Scale::name);
  EXPECT_EQ(spans[0].kind, TraceKind::kernel);
  EXPECT_EQ(spans[0].bytes, 64);
  EXPECT_GT(spans[0].end, spans[0].begin);
  EXPECT_LE(spans[0].end, spans[1].begin);
}

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

}  // namespace launch_observers_test

}  // namespace mpitron::device
