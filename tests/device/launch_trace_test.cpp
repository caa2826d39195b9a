#include "device/launch_trace.h"

#include <gtest/gtest.h>

#include "kernels/elementwise/elementwise.h"

namespace mpitron::device {
namespace launch_trace_test {

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

}  // namespace launch_trace_test
}  // namespace mpitron::device
