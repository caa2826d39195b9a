#include "comm/cuda/nccl_watch.h"

#include <gtest/gtest.h>

#include "comm/cuda/nccl_channel.h"
#include "comm/worlds.h"
#include "emulator/nccl/emulated_nccl.h"

namespace mpitron::comm {
namespace nccl_watch_test {

/// Keeps what it is told, for who waits for that.
class Listener final : public Witness {
 public:
  void started(const Operation&, const Group&, const Request&) override {}
  void ended(const Operation&) override {}
  void waiting(const Operation&, double) override {}
  void disagreement(Index, const std::string&) override {}
  void stuck(const std::string& what, double seconds, const std::string& error) override {
    const std::lock_guard lock(mutex_);
    what_ = what;
    seconds_ = seconds;
    error_ = error;
    heard_.notify_all();
  }

  /// Returns once somebody has told of an operation without, or with, an error.
  std::string wait(bool with_error) {
    std::unique_lock lock(mutex_);
    heard_.wait(lock, [&] { return seconds_ > 0 && error_.empty() != with_error; });
    return what_ + (with_error ? ": " + error_ : "");
  }

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  std::string what_, error_;
  double seconds_ = 0;
};

TEST(NcclWatch, TellsWhatIsUnderWayAndWhatHasFailedWhileTheProgramDoesNothing) {
  run_gpu_world(1, {}, [](World&) {
    const auto listener = std::make_shared<Listener>();
    const auto engine = std::make_shared<ProgressEngine>(listener);
    ncclUniqueId id{};
    ncclGetUniqueId(&id);
    {
      NcclWatch watch(engine, std::chrono::milliseconds(1));
      const auto channel =
          std::make_shared<NcclChannel>(NcclChannel::Settings{.group = "data"}, id, 1, 0);
      watch.add(channel);
      Floats x(12, 1.f);
      const Request request{.kind = CollectiveKind::all_reduce, .output = x.view()};
      const auto stream = std::get<device::CudaStream>(rank_device->stream()).handle;
      const NcclChannel::LaunchId launch =
          channel->launch(stream, request, [&](ncclComm_t communicator, cudaStream_t on) {
            ncclAllReduce(x.view().data, x.view().data, 12, ncclFloat32, ncclSum, communicator, on);
          });
      EXPECT_EQ(listener->wait(false), "all_reduce of 12 fp32 elements in group data");
      emulator::break_nccl(ncclRemoteError);
      EXPECT_EQ(listener->wait(true),
                "all_reduce of 12 fp32 elements in group data: emulated error");
      emulator::break_nccl(ncclSuccess);
      channel->synchronize();
      EXPECT_EQ(x[0], 1);
      while (!channel->ended(launch.number)) {
      }
      EXPECT_FALSE(channel->trouble().has_value());
    }
  });
}

TEST(NcclConnect, NeighboursHaveAChannelForEachDirection) {
  for (const Index size : {2, 3, 4, 5}) {
    run_gpu_world(size, {}, [size](World& world) {
      Floats byte(1);
      const auto stream = std::get<device::CudaStream>(rank_device->stream()).handle;
      const MessageChannels channels =
          connect_neighbours(*world.make_group("host", world.all()->ranks()), {.group = "pipeline"},
                             byte.view().data, stream);
      const Index next = (world.rank() + 1) % size;
      EXPECT_EQ(channels.size(), size == 2 ? 2U : 4U);
      EXPECT_TRUE(channels.contains({world.rank(), next}));
      EXPECT_TRUE(channels.contains({next, world.rank()}));
      world.all()->barrier();
    });
  }
}

}  // namespace nccl_watch_test
}  // namespace mpitron::comm
