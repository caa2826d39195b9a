#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nccl.h>

#include "comm/groups/device_world.h"
#include "comm/groups/group.h"
#include "device/cuda/cuda_handles.h"

namespace mpitron::comm {

/// A communicator and the stream on which everything that it does runs, one behind the other.
class NcclChannel {
 public:
  struct Settings {
    std::string group;
    CommunicatorLimits limits = {};
    bool high_priority = false;
  };
  /// Who calls this with the same `id` makes the communicator together; it returns when all have.
  NcclChannel(Settings settings, const ncclUniqueId& id, int ranks, int rank);
  /// Ends the communicator together with the others; alone, while an exception leaves.
  ~NcclChannel();
  NcclChannel(const NcclChannel&) = delete;
  NcclChannel& operator=(const NcclChannel&) = delete;

  /// Queues what `call` gives to NCCL behind what `after` has queued so far, or records it where
  /// `after` records a graph. Launches, and those recorded, are numbered from 1.
  struct LaunchId {
    std::uint64_t number = 0;
    bool recorded = false;
  };
  using Call = std::function<void(ncclComm_t, cudaStream_t)>;
  LaunchId launch(cudaStream_t after, const Request& request, const Call& call);
  /// Has `stream` wait for a launch before what is queued on it next.
  void let_wait(cudaStream_t stream, const LaunchId& launch);
  /// Tells whether a launch has ended; of one that was not recorded: a recorded one never ends by
  /// itself.
  bool ended(std::uint64_t launch);
  /// Registers this memory, so that operations use it in place: false where it is already. It stays
  /// so until it is struck out, when no operation uses it, or the channel ends.
  bool enlist(void* memory, std::size_t bytes);
  void strike_out(void* memory) noexcept;
  /// The host waits for everything launched.
  void synchronize();

  /// Trouble of a channel: what is under way for long, or has failed.
  struct Trouble {
    std::string what;
    double seconds = 0;
    std::string error;
  };
  /// Returns the trouble of the first launch that has not ended; for any thread.
  std::optional<Trouble> trouble();

 private:
  using Clock = std::chrono::steady_clock;
  struct Launch {
    device::EventHandle ended;
    Clock::time_point started;
    CollectiveKind kind;
    DType dtype;
    Index numel;
  };

  device::EventHandle take_event();
  /// Numbers what was called, whose end `ended` marks.
  LaunchId keep(device::EventHandle ended, const Request& request, bool recorded);
  /// Forgets the launches that have ended.
  void look();

  const Settings settings_;
  ncclComm_t communicator_ = nullptr;
  std::map<void*, void*> registrations_;  // of memory, by its start
  device::StreamHandle stream_;
  std::mutex mutex_;  // of all below
  std::deque<Launch> under_way_;
  std::uint64_t ended_ = 0;
  Clock::time_point looked_;
  std::vector<device::EventHandle> free_events_;
  std::vector<device::EventHandle> recorded_;  // ends within the graph that is recorded
};

// Connecting needs no network of its own: identifiers travel over the host's group. Every member
// calls, and all wait for all.

/// Connects all members by one communicator, for collectives.
std::shared_ptr<NcclChannel> connect_members(Group& host, const NcclChannel::Settings& settings);

/// Channels by (sender, receiver), group ranks.
using MessageChannels = std::map<std::pair<Index, Index>, std::shared_ptr<NcclChannel>>;

/// Connects neighbours (first and last member are, too) by a communicator for each direction: a
/// send waits on the GPU until it is received, and what waits on one stream would hold up whatever
/// is behind it; so two stages that send to each other, or a ring, cannot wait for ever. One byte
/// has travelled through each when this returns, since the first one has the host wait for the
/// other end. `byte`: of the device's memory, there once `stream` has come here.
MessageChannels connect_neighbours(Group& host, const NcclChannel::Settings& settings, void* byte,
                                   cudaStream_t stream);

}  // namespace mpitron::comm
