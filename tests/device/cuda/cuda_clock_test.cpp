#include <gtest/gtest.h>

#include "device/stream_clock.h"
#include "tensor/tensor.h"
#include "utils/trace.h"

namespace mpitron::device {
namespace cuda_clock_test {

TEST(CudaClock, TellsTheMomentsInOrder) {
  const auto gpu = make_cuda_device(0);
  const auto clock = make_stream_clock(gpu->stream());
  for (int round = 0; round < 2; ++round) {
    clock->mark();
    clock->mark();
    const std::vector<std::int64_t> moments = clock->take();
    ASSERT_EQ(moments.size(), 2u);
    EXPECT_LE(moments[0], moments[1]);
  }
  EXPECT_TRUE(clock->take().empty());
}

}  // namespace cuda_clock_test
}  // namespace mpitron::device
