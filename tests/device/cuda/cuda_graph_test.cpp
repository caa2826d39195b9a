#include <gtest/gtest.h>

#include "device/device.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"

namespace mpitron::device {
namespace cuda_graph_test {

using tensor::Tensor;

class CudaGraphTest : public ::testing::Test {
 protected:
  Tensor of(float value) {
    const Tensor host = tensor::empty_on_host(*gpu_, {8}, DType::f32);
    std::fill_n(host.data<float>(), 8, value);
    return tensor::to_device(*gpu_, host);
  }
  float first(const Tensor& x) { return tensor::to_host(*gpu_, x).data<float>()[0]; }
  Tensor times(const Tensor& x, float factor) {
    const Tensor y = Tensor::empty(*gpu_, x.shape(), DType::f32);
    launch(gpu_->stream(), kernels::Scale{.x = x.view(), .y = y.view(), .factor = factor});
    return y;
  }

  std::unique_ptr<Device> gpu_ = make_cuda_device(0);
};

TEST_F(CudaGraphTest, RunsWhatWasRecordedOnWhatIsThereNow) {
  const Tensor x = of(1);
  Tensor y;
  const auto graph = record(*gpu_, [&] { y = times(times(x, 2), 3); });
  graph->launch();
  EXPECT_EQ(first(y), 6);
  tensor::copy_bytes(*gpu_, of(5), x);
  graph->launch();
  EXPECT_EQ(first(y), 30);
}

/// What others allocate later never lies where a graph writes.
TEST_F(CudaGraphTest, MemoryOfGraphsIsTheirs) {
  const Tensor x = of(1);
  Tensor y;
  const auto graph = record(*gpu_, [&] { y = times(times(x, 2), 3); });
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(of(7));
  }
  graph->launch();
  EXPECT_EQ(first(y), 6);
  for (const Tensor& other : others) {
    EXPECT_EQ(first(other), 7);
  }
}

TEST_F(CudaGraphTest, AnErrorWhileRecordingLeavesTheStreamUsable) {
  EXPECT_THROW(record(*gpu_, [] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(first(times(of(2), 2)), 4);
}

}  // namespace cuda_graph_test
}  // namespace mpitron::device
