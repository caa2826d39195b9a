#include "device/cuda/cuda_allocator.h"

#include <gtest/gtest.h>

#include "device/allocator.h"
#include "device/copy.h"
#include "device/free_memory.h"
#include "tensor/host_copy.h"

namespace mpitron::device {
namespace cuda_allocator_test {

using tensor::Tensor;

TEST(CudaAllocator, ASteadyStepAsksTheDriverForNothing) {
  const auto gpu = make_cuda_device(0);
  Index taken = 0;
  for (int step = 0; step < 4; ++step) {
    const Tensor host = tensor::empty_on_host(*gpu, {1000}, DType::f32);
    std::fill_n(host.data<float>(), 1000, static_cast<float>(step));
    const Tensor x = tensor::prefetch(*gpu, host), y = Tensor::empty(*gpu, {1000}, DType::f32);
    tensor::copy_bytes(*gpu, x, y);
    EXPECT_EQ(tensor::to_host(*gpu, y).data<float>()[999], static_cast<float>(step));
    const Index now = gpu->allocator().statistics().system_allocations +
                      gpu->arrivals().statistics().system_allocations +
                      gpu->staging().statistics().system_allocations;
    EXPECT_TRUE(step < 2 || now == taken) << step;
    taken = now;
  }
  EXPECT_EQ(gpu->allocator().statistics().bytes_in_use, 0);
  EXPECT_GE(gpu->allocator().statistics().high_water, 4000);
}

TEST(CudaAllocator, TakesFromWhatTheGpuHasLeft) {
  const auto gpu = make_cuda_device(0);
  const Index before = free_memory(*gpu);
  const Tensor x = Tensor::empty(*gpu, {1 << 20}, DType::f32);
  EXPECT_LE(free_memory(*gpu), before - (4 << 20));
}

/// The copy from a released block has not run when the host asks for the next one.
TEST(PassedAllocator, ABlockIsLeftAloneUntilTheStreamHasPassed) {
  const auto gpu = make_cuda_device(0);
  const auto upload = [&](float value) {
    const Tensor host = tensor::empty_on_host(*gpu, {64}, DType::f32);
    std::fill_n(host.data<float>(), 64, value);
    return tensor::to_device(*gpu, host);
  };
  const Tensor first = upload(1), second = upload(2);
  EXPECT_EQ(tensor::to_host(*gpu, first).data<float>()[63], 1);
  EXPECT_EQ(tensor::to_host(*gpu, second).data<float>()[63], 2);
}

TEST(CudaAllocator, TellsWhereTheMemoryIsWhenItIsGone) {
  const auto gpu = make_cuda_device(0);
  const Tensor held = Tensor::empty(*gpu, {3 << 20}, DType::u8);
  try {
    Tensor::empty(*gpu, {Index{1} << 50}, DType::u8);
    FAIL();
  } catch (const OutOfMemory& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_NE(message.find("1073741824 MiB more wanted"), std::string::npos) << message;
    EXPECT_NE(message.find("4 MiB in use"), std::string::npos) << message;
    EXPECT_NE(message.find("--micro-batch-size"), std::string::npos) << message;
  }
}

}  // namespace cuda_allocator_test
}  // namespace mpitron::device
