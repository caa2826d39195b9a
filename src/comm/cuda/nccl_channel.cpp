// Runs NCCL's operations on a stream of their own, between the device's kernels by events. A launch
// is numbered and kept until it has ended, so that the watch can say which one is stuck.
#include "comm/cuda/nccl_channel.h"

#include <algorithm>
#include <array>
#include <exception>

#include <fmt/format.h>

#include "comm/cuda/nccl_calls.h"
#include "device/cuda/cuda_handles.h"

namespace mpitron::comm {

using device::check;  // beside that of NCCL's results

namespace {

/// Asking an event costs about a microsecond, and an operation may be asked for between any two
/// kernels.
constexpr std::chrono::microseconds kBetweenLooks{100};

/// Translates limits; what is absent stays NCCL's own choice.
ncclConfig_t config_of(const CommunicatorLimits& limits) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = limits.min_ctas.value_or(config.minCTAs);
  config.maxCTAs = limits.max_ctas.value_or(config.maxCTAs);
  config.cgaClusterSize = limits.cga_cluster_size.value_or(config.cgaClusterSize);
  config.collnetEnable = limits.in_switches ? 1 : config.collnetEnable;
  config.netName = limits.net_name.empty() ? config.netName : limits.net_name.c_str();
  return config;
}

/// Makes a stream of the highest priority that this GPU has: its number differs from GPU to GPU.
device::StreamHandle make_stream(bool high_priority) {
  int lowest = 0, highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "asking for priorities of streams");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                     high_priority ? highest : lowest),
        "creating a stream");
  return device::StreamHandle(stream);
}

}  // namespace

NcclChannel::NcclChannel(Settings settings, const ncclUniqueId& id, int ranks, int rank)
    : settings_(std::move(settings)), stream_(make_stream(settings_.high_priority)) {
  ncclConfig_t config = config_of(settings_.limits);
  check(ncclCommInitRankConfig(&communicator_, ranks, id, rank, &config),
        "connecting the ranks of a group");
}

/// Destroying waits for the other ranks, which will not come while an exception leaves: abort then.
NcclChannel::~NcclChannel() {
  if (std::uncaught_exceptions() > 0) {
    ncclCommAbort(communicator_);
  } else {
    cudaStreamSynchronize(stream_.get());
    while (!registrations_.empty()) {
      strike_out(registrations_.begin()->first);
    }
    ncclCommDestroy(communicator_);
  }
}

/// Registers memory; false where this channel has registered it already.
bool NcclChannel::enlist(void* memory, std::size_t bytes) {
  if (registrations_.contains(memory)) {
    return false;
  }
  void* registration = nullptr;
  check(ncclCommRegister(communicator_, memory, bytes, &registration),
        "registering a buffer (--use-nccl-ub)");
  registrations_.emplace(memory, registration);
  return true;
}

void NcclChannel::strike_out(void* memory) noexcept {
  const auto registration = registrations_.extract(memory);
  if (!registration.empty() && registration.mapped() != nullptr) {  // null: NCCL had no use for it
    ncclCommDeregister(communicator_, registration.mapped());
  }
}

/// Queues a call behind what `after` has queued: an event orders it behind what it reads, without
/// the host waiting for either.
NcclChannel::LaunchId NcclChannel::launch(cudaStream_t after, const Request& request,
                                          const Call& call) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(after, &status), "asking whether a graph is recorded");
  device::EventHandle ready = take_event();
  check(cudaEventRecord(ready.get(), after), "recording an event");
  check(cudaStreamWaitEvent(stream_.get(), ready.get(), 0), "waiting for an event");
  call(communicator_, stream_.get());
  // What waits for the first record keeps waiting for that one.
  check(cudaEventRecord(ready.get(), stream_.get()), "recording an event");
  return keep(std::move(ready), request, status != cudaStreamCaptureStatusNone);
}

/// Recorded launches have a number of their own: their ends exist only while the graph is recorded.
NcclChannel::LaunchId NcclChannel::keep(device::EventHandle ended, const Request& request,
                                        bool recorded) {
  const std::lock_guard lock(mutex_);
  if (recorded) {
    recorded_.push_back(std::move(ended));
    return {recorded_.size(), true};
  }
  recorded_.clear();  // that graph knows them itself
  const bool has_input = request.input.data != nullptr;
  under_way_.push_back({.ended = std::move(ended),
                        .started = Clock::now(),
                        .kind = request.kind,
                        .dtype = has_input ? request.input.dtype : request.output.dtype,
                        .numel = has_input ? request.input.numel() : request.output.numel()});
  return {ended_ + under_way_.size(), false};
}

/// Has a stream wait; what has ended needs no wait, and its event may have been given to a later
/// launch.
void NcclChannel::let_wait(cudaStream_t stream, const LaunchId& launch) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t ended = launch.recorded ? 0 : ended_;
  if (launch.number > ended) {
    const std::size_t place = launch.number - ended - 1;
    const device::EventHandle& end = launch.recorded ? recorded_[place] : under_way_[place].ended;
    check(cudaStreamWaitEvent(stream, end.get(), 0), "waiting for an event");
  }
}

/// Asks the driver at most every few milliseconds: a query costs as much as a small launch.
bool NcclChannel::ended(std::uint64_t launch) {
  const std::lock_guard lock(mutex_);
  if (launch > ended_ && Clock::now() - looked_ > kBetweenLooks) {
    look();
  }
  return launch <= ended_;
}

void NcclChannel::synchronize() {
  check(cudaStreamSynchronize(stream_.get()), "waiting for NCCL");
}

/// Looks for the watching thread: an asynchronous error, or for how long the oldest launch is under
/// way.
std::optional<NcclChannel::Trouble> NcclChannel::trouble() {
  const std::lock_guard lock(mutex_);
  ncclResult_t status = ncclSuccess;
  if (ncclCommGetAsyncError(communicator_, &status) == ncclSuccess && status == ncclSuccess) {
    look();
  }
  const std::string error = status == ncclSuccess ? "" : ncclGetErrorString(status);
  if (under_way_.empty()) {
    return error.empty()
               ? std::nullopt
               : std::optional(Trouble{.what = "group " + settings_.group, .error = error});
  }
  const Launch& first = under_way_.front();
  return Trouble{.what = fmt::format("{} of {} {} elements in group {}", name_of(first.kind),
                                     first.numel, name_of(first.dtype), settings_.group),
                 .seconds = std::chrono::duration<double>(Clock::now() - first.started).count(),
                 .error = error};
}

/// Events are made once and used again, since making one synchronises on some drivers.
device::EventHandle NcclChannel::take_event() {
  const std::lock_guard lock(mutex_);
  if (free_events_.empty()) {
    return device::make_event();
  }
  device::EventHandle event = std::move(free_events_.back());
  free_events_.pop_back();
  return event;
}

/// Forgets launches that have ended, from the oldest on: launches of one stream end in their order.
void NcclChannel::look() {
  looked_ = Clock::now();
  while (!under_way_.empty()) {
    const cudaError_t status = cudaEventQuery(under_way_.front().ended.get());
    if (status == cudaErrorNotReady) {
      return;
    }
    check(status, "running what NCCL has queued");
    free_events_.push_back(std::move(under_way_.front().ended));
    under_way_.pop_front();
    ++ended_;
  }
}

namespace {

TensorView bytes_of(ncclUniqueId* ids, Index n) {
  return {ids, DType::u8, {n * static_cast<Index>(sizeof(ncclUniqueId))}};
}

ncclUniqueId make_id() {
  ncclUniqueId id{};
  check(ncclGetUniqueId(&id), "making an identifier of a group");
  return id;
}

/// Orders the directions of a ring of `n` members such that members that go through their own ones
/// connect most of them at once: pairs of an even first member before those of an odd one, and last
/// the pair of the last and the first member.
std::vector<std::pair<Index, Index>> directions_in_order(Index n) {
  std::vector<std::pair<Index, Index>> directions;
  const Index pairs = n == 2 ? 1 : n;
  const auto add = [&](Index first) {
    directions.emplace_back(first, (first + 1) % n);
    directions.emplace_back((first + 1) % n, first);
  };
  for (const Index parity : {0, 1}) {
    for (Index first = parity; first + 1 < n; first += 2) {
      add(first);
    }
  }
  if (pairs == n) {
    add(n - 1);
  }
  return directions;
}

/// Sends one byte from the sender (rank 0 of the channel) to the receiver.
void try_out(NcclChannel& channel, bool sender, void* memory, cudaStream_t after) {
  const TensorView byte(memory, DType::u8, {1});
  const Request request = sender ? Request{.kind = CollectiveKind::send, .input = byte}
                                 : Request{.kind = CollectiveKind::receive, .output = byte};
  channel.launch(after, request, [&](ncclComm_t communicator, cudaStream_t stream) {
    call_message(request, sender ? 1 : 0, communicator, stream);
  });
  channel.synchronize();
}

}  // namespace

std::shared_ptr<NcclChannel> connect_members(Group& host, const NcclChannel::Settings& settings) {
  ncclUniqueId id = host.rank() == 0 ? make_id() : ncclUniqueId{};
  host.broadcast(bytes_of(&id, 1), 0).wait();
  return std::make_shared<NcclChannel>(settings, id, static_cast<int>(host.size()),
                                       static_cast<int>(host.rank()));
}

/// Connects all directions. Each member makes an identifier for the way to the next member and one
/// for the way to the previous one, which all members gather by the host's group.
MessageChannels connect_neighbours(Group& host, const NcclChannel::Settings& settings, void* byte,
                                   cudaStream_t stream) {
  const Index n = host.size(), rank = host.rank();
  std::array<ncclUniqueId, 2> own = {make_id(), make_id()};  // to the next and the previous one
  std::vector<ncclUniqueId> ids(static_cast<std::size_t>(2 * n));
  host.all_gather(bytes_of(own.data(), 2), bytes_of(ids.data(), 2 * n)).wait();
  MessageChannels channels;
  for (const auto& [sender, receiver] : directions_in_order(n)) {
    if (rank == sender || rank == receiver) {
      const bool to_next = receiver == (sender + 1) % n;
      const ncclUniqueId& id = ids[static_cast<std::size_t>(2 * sender + (to_next ? 0 : 1))];
      const auto channel = std::make_shared<NcclChannel>(settings, id, 2, rank == sender ? 0 : 1);
      try_out(*channel, rank == sender, byte, stream);
      channels.emplace(std::pair(sender, receiver), channel);
    }
  }
  return channels;
}

}  // namespace mpitron::comm
