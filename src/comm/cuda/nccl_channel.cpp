#include "comm/cuda/nccl_channel.h"

#include <exception>

#include <fmt/format.h>

#include "comm/cuda/check_nccl.h"
#include "device/cuda/check_cuda.h"

namespace mpitron::comm {
namespace {

using device::check;

/// Asking an event costs about a microsecond, and an operation may be asked for between any two
/// kernels.
constexpr std::chrono::microseconds kBetweenLooks{100};

ncclConfig_t config_of(const CommunicatorLimits& limits) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = limits.min_ctas.value_or(config.minCTAs);
  config.maxCTAs = limits.max_ctas.value_or(config.maxCTAs);
  config.cgaClusterSize = limits.cga_cluster_size.value_or(config.cgaClusterSize);
  config.collnetEnable = limits.in_switches ? 1 : config.collnetEnable;
  config.netName = limits.net_name.empty() ? config.netName : limits.net_name.c_str();
  return config;
}

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

void NcclChannel::let_wait(cudaStream_t stream, const LaunchId& launch) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t ended = launch.recorded ? 0 : ended_;
  if (launch.number > ended) {
    const std::size_t place = launch.number - ended - 1;
    const device::EventHandle& end = launch.recorded ? recorded_[place] : under_way_[place].ended;
    check(cudaStreamWaitEvent(stream, end.get(), 0), "waiting for an event");
  }
}

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

device::EventHandle NcclChannel::take_event() {
  const std::lock_guard lock(mutex_);
  if (free_events_.empty()) {
    return device::make_event();
  }
  device::EventHandle event = std::move(free_events_.back());
  free_events_.pop_back();
  return event;
}

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

}  // namespace mpitron::comm
