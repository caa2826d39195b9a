#include <cstdlib>
#include <cstring>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace mpitron::emulator {
namespace cuda_devices_test {

const char kernel = 0;  // any address names one

/// The machine as these variables describe it; none is set otherwise.
class CudaDevices : public ::testing::Test {
 protected:
  ~CudaDevices() override {
    for (const char* name : {"MPITRON_EMULATED_GPUS", "MPITRON_EMULATED_DRIVER",
                             "MPITRON_EMULATED_CAPABILITY", "CUDA_VISIBLE_DEVICES"}) {
      unsetenv(name);
    }
    cudaGetLastError();
    cudaSetDevice(0);
  }
  int count_ = -1;
};

TEST_F(CudaDevices, OneUnlessToldOtherwise) {
  EXPECT_EQ(cudaGetDeviceCount(&count_), cudaSuccess);
  EXPECT_EQ(count_, 1);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
}

TEST_F(CudaDevices, VisibleOnesAreCountedFromZero) {
  setenv("MPITRON_EMULATED_GPUS", "4", 1);
  setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
  EXPECT_EQ(cudaGetDeviceCount(&count_), cudaSuccess);
  EXPECT_EQ(count_, 2);
  char bus[32];
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, 0), cudaSuccess);
  EXPECT_STREQ(bus, "0000:03:00.0");
}

TEST_F(CudaDevices, NoneVisible) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(cudaGetDeviceCount(&count_), cudaErrorNoDevice);
  EXPECT_EQ(count_, 0);
}

TEST_F(CudaDevices, NoDriverOrAnOldOne) {
  for (const char* version : {"0", "12040"}) {
    setenv("MPITRON_EMULATED_DRIVER", version, 1);
    EXPECT_EQ(cudaGetDeviceCount(&count_), cudaErrorInsufficientDriver);
    int found = -1;
    cudaDriverGetVersion(&found);
    EXPECT_EQ(found, std::atoi(version));
  }
}

TEST_F(CudaDevices, SharedMemoryFollowsTheCapability) {
  const auto most = [](const char* capability) {
    setenv("MPITRON_EMULATED_CAPABILITY", capability, 1);
    int bytes = 0;
    cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    const auto ask = [](int wanted) {
      return cudaFuncSetAttribute(&kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted);
    };
    EXPECT_EQ(ask(bytes), cudaSuccess) << capability;
    EXPECT_EQ(ask(bytes + 1), cudaErrorInvalidValue) << capability;
    return bytes >> 10;
  };
  EXPECT_EQ(most("80"), 163);
  EXPECT_EQ(most("86"), 99);
  EXPECT_EQ(most("89"), 99);
  EXPECT_EQ(most("90"), 227);
}

}  // namespace cuda_devices_test
}  // namespace mpitron::emulator
