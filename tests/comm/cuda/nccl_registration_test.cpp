#include <gtest/gtest.h>

#include "device/device.h"
#include "emulator/nccl/emulated_nccl.h"

namespace mpitron::comm {
namespace nccl_registration_test {

/// What NCCL does not forgive ends the process.
class NcclRegistrationDeathTest : public ::testing::Test {
 protected:
  NcclRegistrationDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  /// With a communicator of one rank and a block of NCCL's memory.
  template <class Body>
  static void with_block(const Body& body) {
    const auto device = device::make_cuda_device(0);
    ncclUniqueId id{};
    ncclGetUniqueId(&id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t communicator = nullptr;
    ncclCommInitRankConfig(&communicator, 1, id, 0, &config);
    void* block = nullptr;
    ncclMemAlloc(&block, 4096);
    body(communicator, block, *device);
  }
};

TEST_F(NcclRegistrationDeathTest, MemoryIsFreedBeforeItIsStruckOut) {
  EXPECT_DEATH(with_block([](ncclComm_t communicator, void* block, device::Device&) {
                 void* handle = nullptr;
                 ncclCommRegister(communicator, block, 4096, &handle);
                 ncclMemFree(block);
               }),
               "memory is freed that a communicator has registered");
}

TEST_F(NcclRegistrationDeathTest, OtherMemoryIsRegistered) {
  EXPECT_DEATH(with_block([](ncclComm_t communicator, void*, device::Device& device) {
                 std::size_t capacity = 0;
                 void* const other = device.allocator().allocate(4096, capacity);
                 void* handle = nullptr;
                 ncclCommRegister(communicator, other, 4096, &handle);
               }),
               "no part of a block of ncclMemAlloc");
}

TEST_F(NcclRegistrationDeathTest, MemoryIsStruckOutWhileCallsUseIt) {
  EXPECT_DEATH(with_block([](ncclComm_t communicator, void* block, device::Device& device) {
                 void* handle = nullptr;
                 ncclCommRegister(communicator, block, 4096, &handle);
                 ncclAllReduce(block, block, 4, ncclFloat32, ncclSum, communicator,
                               std::get<device::CudaStream>(device.stream()).handle);
                 ncclCommDeregister(communicator, handle);
               }),
               "deregistered while calls of its communicator have not run");
}

TEST_F(NcclRegistrationDeathTest, ACommunicatorEndsWithRegisteredMemory) {
  EXPECT_DEATH(with_block([](ncclComm_t communicator, void* block, device::Device&) {
                 void* handle = nullptr;
                 ncclCommRegister(communicator, block, 4096, &handle);
                 ncclCommDestroy(communicator);
               }),
               "ends before its memory is deregistered");
}

}  // namespace nccl_registration_test
}  // namespace mpitron::comm
