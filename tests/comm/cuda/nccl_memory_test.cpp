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

}  // namespace nccl_memory_test
}  // namespace mpitron::comm
