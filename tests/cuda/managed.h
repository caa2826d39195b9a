#pragma once
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "device/cuda/check_cuda.h"
#include "device/cuda/cuda_device.h"
#include "device/device.h"

namespace mpitron::test {

/// n elements of T that the host and the GPU both see.
template <class T>
class Managed {
 public:
  explicit Managed(Index n) : n_(n) {
    void* memory = nullptr;
    device::check(cudaMallocManaged(&memory, static_cast<std::size_t>(n) * sizeof(T)), "test");
    data_ = static_cast<T*>(memory);
  }
  ~Managed() { cudaFree(data_); }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;

  T& operator[](Index i) { return data_[i]; }
  device::TensorView view(const Shape& shape) const { return {data_, dtype_of<T>(), shape}; }
  device::TensorView view() const { return view({n_}); }

 private:
  T* data_ = nullptr;
  Index n_ = 0;
};

/// A test that needs a GPU and skips itself where there is none.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no GPU here";
    }
    gpu_ = device::make_device("cuda");
  }
  device::CudaStream& stream() { return std::get<device::CudaStream>(gpu_->stream()); }

 private:
  std::unique_ptr<device::Device> gpu_;
};

}  // namespace mpitron::test
