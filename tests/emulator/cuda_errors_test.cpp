#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace mpitron::emulator {
namespace cuda_errors_test {

TEST(CudaErrors, HaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

}  // namespace cuda_errors_test
}  // namespace mpitron::emulator
