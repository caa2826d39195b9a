#include "comm/cuda/nccl_group.h"

#include "comm/cuda/nccl_calls.h"
#include "comm/cuda/nccl_memory.h"
#include "comm/cuda/nccl_watch.h"
#include "utils/check.h"

namespace mpitron::comm {
namespace {

class NcclOperation final : public Operation {
 public:
  NcclOperation(const std::shared_ptr<NcclChannel>& channel, NcclChannel::LaunchId launch,
                cudaStream_t waiter)
      : channel_(channel), launch_(launch), waiter_(waiter) {}

  bool step() override {
    const std::shared_ptr<NcclChannel> channel = channel_.lock();
    return channel == nullptr || (launch_.recorded ? waited_ : channel->ended(launch_.number));
  }
  /// Has the stream wait, not the host; a channel that has ended means that its group has ended,
  /// too.
  bool wait_on_device() override {
    if (const std::shared_ptr<NcclChannel> channel = channel_.lock()) {
      channel->let_wait(waiter_, launch_);
    }
    waited_ = true;
    return true;
  }
  std::vector<Index> absent() const override { return {}; }  // nobody but the GPU waits

 private:
  const std::weak_ptr<NcclChannel> channel_;  // of the group; ends when all has run
  const NcclChannel::LaunchId launch_;
  const cudaStream_t waiter_;
  bool waited_ = false;
};

bool is_message(const Request& request) {
  return request.kind == CollectiveKind::send || request.kind == CollectiveKind::receive;
}

}  // namespace

NcclGroup::NcclGroup(std::shared_ptr<Group> host, const Fabric& fabric,
                     NcclChannel::Settings settings)
    : GpuGroup(std::move(host), fabric.device), fabric_(fabric), settings_(std::move(settings)) {}

void NcclGroup::expect(const TensorView& memory) {
  if (fabric_.buffers != nullptr && size() > 1) {
    fabric_.buffers->enlist(memory, collectives());
  }
}

/// Starts an operation behind what the device's stream holds.
Work NcclGroup::start_on_device(const Request& request) {
  const std::shared_ptr<NcclChannel> channel = channel_for(request);
  const auto call = [&](ncclComm_t communicator, cudaStream_t stream) {
    if (is_message(request)) {  // of a channel the sender is 0
      call_message(request, request.kind == CollectiveKind::send ? 1 : 0, communicator, stream);
    } else {
      call_collective(*this, request, communicator, stream);
    }
  };
  const NcclChannel::LaunchId launch = channel->launch(kernels(), request, call);
  return fabric_.engine->start(std::make_shared<NcclOperation>(channel, launch, kernels()), *this,
                               request);
}

cudaStream_t NcclGroup::kernels() const {
  return std::get<device::CudaStream>(device().stream()).handle;
}

/// Chooses the channel: messages have channels of their own, so that a send that waits holds up no
/// collective.
std::shared_ptr<NcclChannel> NcclGroup::channel_for(const Request& request) {
  if (is_message(request)) {
    return request.kind == CollectiveKind::send ? message_channel(rank(), request.peer)
                                                : message_channel(request.peer, rank());
  }
  return collectives();
}

/// Connects at the first use: many groups never run a collective on the GPU.
const std::shared_ptr<NcclChannel>& NcclGroup::collectives() {
  if (collectives_ == nullptr) {
    collectives_ = connect_members(host(), settings_);
    fabric_.watch.add(collectives_);
  }
  return collectives_;
}

/// Connects all neighbours at once, at the first message of any of them; every member then sends or
/// receives, so all come.
const std::shared_ptr<NcclChannel>& NcclGroup::message_channel(Index sender, Index receiver) {
  if (messages_.empty()) {
    std::size_t capacity = 0;
    void* const memory = device().allocator().allocate(1, capacity);
    messages_ = connect_neighbours(host(), settings_, memory, kernels());
    device().allocator().release(memory, capacity);
    for (const auto& [ends, channel] : messages_) {
      fabric_.watch.add(channel);
    }
  }
  const auto at = messages_.find({sender, receiver});
  MPITRON_CHECK(at != messages_.end(), name(), sender, receiver);  // they must be neighbours
  return at->second;
}

}  // namespace mpitron::comm
