#include "comm/cuda/nccl_memory.h"

#include <gtest/gtest.h>

#include "comm/worlds.h"
#include "emulator/nccl/emulated_nccl.h"
#include "utils/error.h"

namespace mpitron::comm {
namespace nccl_memory_test {

using emulator::NcclHistory;

const DeviceTransport kRegisters = {.registers_buffers = true};

/// Numbers in the memory for what travels.
class Buffer {
 public:
  explicit Buffer(Index n)
      : view_(rank_device->buffers().allocate(static_cast<std::size_t>(4 * n), capacity_),
              DType::f32, {n}) {}
  ~Buffer() { rank_device->buffers().release(view_.data, capacity_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  const TensorView& view() const { return view_; }

 private:
  std::size_t capacity_ = 0;
  TensorView view_;
};

/// How many calls of each rank had their data in registered memory, over all communicators.
std::vector<std::size_t> registered_calls() {
  std::vector<std::size_t> all;
  for (const NcclHistory& history : emulator::take_nccl_histories()) {
    all.resize(std::max(all.size(), history.registered.size()));
    for (std::size_t rank = 0; rank < history.registered.size(); ++rank) {
      all[rank] += history.registered[rank];
    }
  }
  return all;
}

TEST(NcclMemory, IsRegisteredWithTheGroupsThatExpectIt) {
  registered_calls();
  run_gpu_world(2, kRegisters, [](World& world) {
    const auto all = world.all(), other = world.make_group("other", {0, 1});
    const Buffer x(3'000'000), small(10);
    for (const Buffer* buffer : {&x, &small, &x}) {
      all->expect(buffer->view());
    }
    all->all_reduce(x.view()).wait();
    all->all_reduce(small.view()).wait();
    other->all_reduce(x.view()).wait();  // knows nothing of it
    Floats elsewhere(10, 1.f);
    all->expect(elsewhere.view());
    all->all_reduce(elsewhere.view()).wait();
    EXPECT_EQ(elsewhere[9], 2);
    EXPECT_GE(rank_device->buffers().statistics().bytes_in_use, 12'000'000);
    world.all()->barrier();
  });
  EXPECT_EQ(registered_calls(), (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(emulator::nccl_blocks(), 0U);
}

TEST(NcclMemory, ReleasedBlocksStayRegistered) {
  registered_calls();
  run_gpu_world(2, kRegisters, [](World& world) {
    for (int use = 0; use < 3; ++use) {
      const Buffer x(1'000'000);
      world.all()->expect(x.view());
      world.all()->all_reduce(x.view()).wait();
    }
    EXPECT_EQ(rank_device->buffers().statistics().system_allocations, 1);
    world.all()->barrier();
  });
  EXPECT_EQ(registered_calls(), (std::vector<std::size_t>{3, 3}));
}

TEST(NcclMemory, IsOrdinaryMemoryWhereNothingIsRegistered) {
  registered_calls();
  for (const DeviceTransport& transport :
       {DeviceTransport{}, DeviceTransport{.through_host = true, .registers_buffers = true}}) {
    run_gpu_world(2, transport, [](World& world) {
      EXPECT_EQ(&rank_device->buffers(), &rank_device->allocator());
      const Buffer x(10);
      world.all()->expect(x.view());
      world.all()->barrier();
    });
  }
  EXPECT_TRUE(emulator::take_nccl_histories().empty());  // no communicator was made for it
}

TEST(NcclMemory, OlderVersionsAreNamed) {
  emulator::set_nccl_version(21805);
  run_thread_world(2, [](World& ranks) {
    const auto device = device::make_cuda_device(0);
    const std::shared_ptr<World> host(&ranks, [](World*) {});
    try {
      world_for_device(host, *device, kRegisters);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("NCCL 2.18"), std::string::npos) << error.what();
    }
  });
  emulator::set_nccl_version(0);
}

// What NCCL does not forgive ends the process.

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

}  // namespace nccl_memory_test
}  // namespace mpitron::comm
