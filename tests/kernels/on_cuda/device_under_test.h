#pragma once
#include <cstring>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "device/cuda/cuda_handles.h"
#include "device/device.h"
#include "kernels/linear/grouped_matmul.h"
#include "support/host_runtime.h"
#include "tests/kernels/test_log.h"
#include "tests/kernels/test_memory.h"

namespace mpitron::kernels {

/// What kernels_cuda_test tests.
using StreamUnderTest = device::CudaStream;

/// What errors of long sums in fp32 are multiples of, and how large those of sums of numbers of 8
/// bits are beside the largest result: matrix units cut off what fp32 would round, and keep 13
/// binary places of the latter (emulator/units/matrix_unit.h).
inline constexpr double kSumErrors = 3, kFp8SumError = 0x1p-11;
/// Whether kernels of layers with a state have fp64.
inline constexpr bool kRecursInFp64 = false;
/// Whether generation may keep their states in any type.
inline constexpr bool kKeepsStatesInAnyType = false;
/// Whether weights of fp32, bf16 and fp16 are packed, too.
inline constexpr bool kPacksNumbers = false;

/// Without a GPU every test is skipped.
class GpuEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    int count = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
      GTEST_SKIP() << "no GPU here: " << cudaGetErrorString(status);
    }
  }
};
inline ::testing::Environment* const gpu_environment =
    ::testing::AddGlobalTestEnvironment(new GpuEnvironment);

/// A copy of the test memory on the GPU, where every tensor has the place that it has on the host.
class TestMemoryOnGpu {
 public:
  static TestMemoryOnGpu& instance() {
    static TestMemoryOnGpu only;
    return only;
  }
  StreamUnderTest& stream() { return std::get<StreamUnderTest>(gpu_->stream()); }

  void upload() {
    const std::span<std::byte> used = TestMemory::instance().used();
    if (used.size() > bytes_) {
      release();
      bytes_ = 2 * used.size();
      void* memory = nullptr;
      device::check(cudaMalloc(&memory, bytes_), "test memory");
      memory_ = static_cast<std::byte*>(memory);
    }
    copy(memory_, used.data(), used.size());
  }
  void download() {
    const std::span<std::byte> used = TestMemory::instance().used();
    copy(used.data(), memory_, used.size());
    synchronize(stream());
    if (bytes_ > kKeptBytes) {
      release();
    }
  }

  /// Where the tensor that begins at this address of the host lies.
  template <class Pointer>
  Pointer moved(Pointer address) const {
    const auto offset =
        static_cast<const std::byte*>(address) - TestMemory::instance().used().data();
    return memory_ + offset;
  }

 private:
  static constexpr std::size_t kKeptBytes = 64 << 20;

  void release() {
    cudaFree(memory_);
    memory_ = nullptr;
    bytes_ = 0;
  }
  void copy(void* to, const void* from, std::size_t bytes) {
    device::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream().handle),
                  "copying test memory");
  }

  std::unique_ptr<device::Device> gpu_ = device::make_cuda_device(0);
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The kernel with every pointer to test memory, wherever it stands among its arguments, moved to
/// the GPU.
template <class Kernel>
Kernel moved_to_gpu(Kernel kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  char bytes[sizeof kernel];
  std::memcpy(bytes, &kernel, sizeof kernel);
  for (std::size_t at = 0; at + sizeof(void*) <= sizeof kernel; at += sizeof(void*)) {
    void* address = nullptr;
    std::memcpy(&address, bytes + at, sizeof address);
    if (TestMemory::instance().holds(address)) {
      address = TestMemoryOnGpu::instance().moved(address);
      std::memcpy(bytes + at, &address, sizeof address);
    }
  }
  std::memcpy(&kernel, bytes, sizeof kernel);
  return kernel;
}

template <class Kernel>
void run_moved(StreamUnderTest& stream, const Kernel& kernel) {
  run(stream, moved_to_gpu(kernel));
}
inline void run_moved(StreamUnderTest& stream, GroupedMatmul kernel) {
  std::vector<In> matrices;
  for (const In& matrix : kernel.b) {
    matrices.push_back(moved_to_gpu(matrix));
  }
  kernel.b = matrices;
  run(stream, moved_to_gpu(kernel));
}
inline void run_moved(StreamUnderTest& stream, GroupedWeightGradient kernel) {
  std::vector<GroupGradient> gradients;
  for (const GroupGradient& group : kernel.c) {
    gradients.push_back(moved_to_gpu(group));
  }
  kernel.c = gradients;
  run(stream, moved_to_gpu(kernel));
}

/// Runs the kernel to its end, with a workspace full of NaN where it wants one.
template <class Kernel>
void run_on_device(Kernel kernel) {
  TestMemoryOnGpu& gpu = TestMemoryOnGpu::instance();
  const TestBlock workspace = give_workspace(gpu.stream(), kernel);
  gpu.upload();
  log_launch(kernel);
  run_moved(gpu.stream(), kernel);
  gpu.download();
}

}  // namespace mpitron::kernels
