#include <gtest/gtest.h>

#include "device/copy.h"
#include "tensor/host_copy.h"

namespace mpitron::device {
namespace cuda_copy_lane_test {

using tensor::Tensor;

TEST(CopyLane, CopiesBesideTheStreamAndIsWaitedFor) {
  const auto gpu = make_cuda_device(0);
  const auto to_host = make_copy_lane(gpu->stream()), to_device = make_copy_lane(gpu->stream());
  const Tensor host = tensor::empty_on_host(*gpu, {256}, DType::f32);
  std::fill_n(host.data<float>(), 256, 3.f);
  const Tensor x = tensor::to_device(*gpu, host);
  const Tensor away = tensor::empty_on_host(*gpu, {256}, DType::f32);
  to_host->follow_stream();
  to_host->copy(away.view().data, x.view().data, 1024);
  to_host->let_stream_wait(to_host->mark());
  const Tensor y = Tensor::empty(*gpu, {256}, DType::f32);
  to_device->follow_stream();
  to_device->copy(y.view().data, away.view().data, 1024);
  const Index mark = to_device->mark();
  to_device->let_stream_wait(mark);
  EXPECT_EQ(tensor::to_host(*gpu, y).data<float>()[255], 3);
  EXPECT_THROW(to_device->let_stream_wait(mark), InternalError);
}

TEST(CopyLane, IsNotThereWhereTensorsLieOnTheHost) {
  EXPECT_EQ(make_copy_lane(make_device("reference")->stream()), nullptr);
}

}  // namespace cuda_copy_lane_test
}  // namespace mpitron::device
