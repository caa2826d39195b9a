#include "device/cuda/cuda_handles.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::device {
namespace cuda_handles_test {

TEST(CheckCuda, SharedMemoryThatABlockCannotHaveIsToldInOneSentence) {
  EXPECT_NO_THROW(check_shared_memory(0, "small", 64 << 10));
  try {
    check_shared_memory(0, "wide_norm", 1 << 20);
    FAIL() << "no GPU has a block with 1 MiB";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("kernel wide_norm needs 1024 KiB of shared memory"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace cuda_handles_test
}  // namespace mpitron::device
