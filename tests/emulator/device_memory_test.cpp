#include "emulator/device/device_memory.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace mpitron::emulator {
namespace device_memory_test {

float* some_device_memory(std::size_t n) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, n * sizeof(float)), cudaSuccess);
  return static_cast<float*>(memory);
}

TEST(DeviceMemory, CopiesGoThereAndBack) {
  float* device = some_device_memory(3);
  const std::vector<float> values{1, 2, 3};
  std::vector<float> back(3);
  EXPECT_EQ(cudaMemcpy(device, values.data(), 12, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(back.data(), device, 12, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(back, values);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(DeviceMemory, IsNanBeforeItIsWritten) {
  float* device = some_device_memory(2);
  float values[] = {1, 2};
  cudaMemcpy(values, device, 8, cudaMemcpyDeviceToHost);
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
  cudaFree(device);
}

TEST(DeviceMemory, ACopyMustLieInOneBlock) {
  float* device = some_device_memory(256);
  std::vector<float> host(1024);
  EXPECT_EQ(cudaMemcpy(device, host.data(), 4096, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host.data(), 1024, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  cudaFree(device);
  EXPECT_EQ(cudaMemcpy(device, host.data(), 1024, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(DeviceMemory, HasAnEnd) {
  const std::size_t total = device_memory_info(0).total;
  set_device_memory_capacity(device_memory_info(0).used + 4096);
  float* device = some_device_memory(1024);
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 1), cudaErrorMemoryAllocation);
  std::size_t left = 1, all = 0;
  cudaMemGetInfo(&left, &all);
  EXPECT_EQ(left, 0u);
  cudaFree(device);
  device = some_device_memory(1024);
  cudaFree(device);
  set_device_memory_capacity(total);
  cudaGetLastError();
}

TEST(DeviceMemoryDeathTest, HostCodeMustNotTouchIt) {
  float* device = some_device_memory(4);
  EXPECT_DEATH(device[1] = 2, "host code touched device memory");
  EXPECT_DEATH(std::memset(device, 0, 4), "host code touched device memory");
  cudaFree(device);
}

TEST(DeviceMemoryDeathTest, AStagingBufferMustOutliveItsCopy) {
  float* device = some_device_memory(4);
  void* staging = nullptr;
  cudaMallocHost(&staging, 16);
  std::memset(staging, 0, 16);
  cudaMemcpyAsync(device, staging, 16, cudaMemcpyHostToDevice, nullptr);
  EXPECT_DEATH(
      {
        cudaFreeHost(staging);
        cudaStreamSynchronize(nullptr);
      },
      "page-locked memory was used after its release");
  cudaStreamSynchronize(nullptr);
  cudaFreeHost(staging);
  cudaFree(device);
}

TEST(DeviceMemory, AttributesTellWhereMemoryLies) {
  float* device = some_device_memory(4);
  void* pinned = nullptr;
  cudaMallocHost(&pinned, 16);
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, device + 1);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  cudaPointerGetAttributes(&attributes, pinned);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  cudaPointerGetAttributes(&attributes, &attributes);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  cudaFreeHost(pinned);
  cudaFree(device);
}

}  // namespace device_memory_test
}  // namespace mpitron::emulator
