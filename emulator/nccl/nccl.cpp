// Emulates NCCL for ranks that are threads of one process (emulated_nccl.h). A call becomes a task
// of its stream; data moves when the streams of all ranks have come to it.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "emulator/device/device_memory.h"
#include "emulator/device/emulated_stream.h"
#include "emulator/device/failure.h"
#include "emulator/device/queue.h"
#include "emulator/nccl/nccl_clique.h"
#include "emulator/nccl/nccl_registration.h"

namespace mpitron::emulator {
namespace {

std::atomic<ncclResult_t> asynchronous_error{ncclSuccess};
std::atomic<std::uint64_t> identifiers{0};

/// Communicators of the process, by identifier: the ranks that name one identifier meet in one
/// clique.
class Registry {
 public:
  std::shared_ptr<Clique> find(std::uint64_t id, int ranks) {
    const std::lock_guard lock(mutex_);
    auto& clique = cliques_[id];
    if (clique == nullptr) {
      clique = std::make_shared<Clique>(ranks);
    }
    return clique;
  }
  std::vector<NcclHistory> take_histories() {
    const std::lock_guard lock(mutex_);
    std::vector<NcclHistory> histories;
    for (const auto& [id, clique] : cliques_) {
      histories.push_back(clique->history());
    }
    cliques_.clear();
    return histories;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Clique>> cliques_;
};

Registry& registry() {
  static Registry all;
  return all;
}

}  // namespace
}  // namespace mpitron::emulator

// nccl.h declares it and leaves it open.
struct ncclComm {
  std::shared_ptr<mpitron::emulator::Clique> clique;
  int rank;
  int device;
  cudaStream_t stream = nullptr;  // of all its operations
  mpitron::emulator::Registrations registrations = {};
};

namespace mpitron::emulator {
namespace {

/// Calls between ncclGroupStart and ncclGroupEnd, which run as one.
struct Batch {
  bool open = false;
  std::vector<std::pair<ncclComm_t, Operation>> operations;

  ~Batch() {
    if (open) {
      fail("NCCL: a thread ends with an open group of calls");
    }
  }
};
thread_local Batch batch;

bool records(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream, &status);
  return status != cudaStreamCaptureStatusNone;
}

/// Queues operations as one task, which has run when all of them have. A graph makes its calls
/// whenever it is launched.
ncclResult_t queue(std::vector<std::pair<ncclComm_t, Operation>> operations) {
  if (operations.empty()) {
    return ncclSuccess;
  }
  ncclComm& communicator = *operations.front().first;
  std::vector<Operation> own;
  for (const auto& [other, operation] : operations) {
    if (other != &communicator) {
      fail("NCCL: one group of calls of several communicators");
    }
    own.push_back(operation);
  }
  const auto attempt = [own, clique = communicator.clique, rank = communicator.rank,
                        replayed = records(communicator.stream),
                        reached = std::vector<OperationHandle>()]() mutable {
    if (reached.empty()) {
      for (const Operation& operation : own) {
        if (replayed) {
          clique->add(rank, operation.call);
        }
        reached.push_back(std::make_shared<Operation>(operation));
        clique->reach(rank, reached.back());
      }
    }
    return std::ranges::all_of(
        reached, [&](const OperationHandle& operation) { return clique->moved(*operation); });
  };
  const cudaError_t status = enqueue(communicator.stream, own.front().call.what, attempt);
  return status == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

/// Ends the process unless the bytes lie in one block of the communicator's GPU.
void check_memory(const ncclComm& communicator, const char* what, const void* memory,
                  std::size_t bytes) {
  if (bytes > 0 && memory != nullptr &&
      !(is_device_memory(memory) && inside_one_block(memory, bytes) &&
        device_of(memory) == communicator.device)) {
    fail(std::string("NCCL: ") + what + ": " + std::to_string(bytes) +
         " bytes do not lie in one block of the communicator's GPU");
  }
}

/// Checks a call and queues it, or adds it to the open group. `reads_writes`: bytes of the two
/// ends, which differ where data is gathered or scattered.
ncclResult_t start(ncclComm_t communicator, cudaStream_t stream, Operation operation,
                   std::pair<std::size_t, std::size_t> reads_writes) {
  const char* const what = operation.call.what;
  if (communicator->stream != nullptr && communicator->stream != stream) {
    fail(std::string("NCCL: ") + what + ": a communicator is used on two streams");
  }
  if (std::exchange(communicator->stream, stream) == nullptr) {
    int priority = 0;
    cudaStreamGetPriority(stream, &priority);
    communicator->clique->set_priority(priority);
  }
  check_memory(*communicator, what, operation.from, reads_writes.first);
  check_memory(*communicator, what, operation.to, reads_writes.second);
  if (!records(stream)) {
    communicator->clique->add(communicator->rank, operation.call);
  }
  if (communicator->registrations.hold(operation.from, reads_writes.first) &&
      communicator->registrations.hold(operation.to, reads_writes.second)) {
    communicator->clique->count_registered(communicator->rank);
  }
  if (batch.open) {
    batch.operations.emplace_back(communicator, operation);
    return ncclSuccess;
  }
  return queue({{communicator, operation}});
}

ncclResult_t start(ncclComm_t communicator, cudaStream_t stream, const NcclCall& call,
                   const void* from, void* to) {
  Operation operation{
      .call = call, .from = static_cast<const std::byte*>(from), .to = static_cast<std::byte*>(to)};
  const std::size_t bytes = operation.bytes(), ranks = communicator->clique->size();
  const bool gathers = std::strcmp(call.what, "all_gather") == 0;
  const bool scatters = std::strcmp(call.what, "reduce_scatter") == 0;
  return start(communicator, stream, operation,
               {scatters ? bytes * ranks : bytes, gathers ? bytes * ranks : bytes});
}

}  // namespace

std::vector<NcclHistory> take_nccl_histories() {
  return registry().take_histories();
}

void break_nccl(ncclResult_t error) {
  asynchronous_error = error;
}

}  // namespace mpitron::emulator

using namespace mpitron::emulator;

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const std::uint64_t number = ++identifiers;
  std::memset(id, 0, sizeof(*id));
  std::memcpy(id, &number, sizeof(number));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  std::uint64_t number = 0;
  std::memcpy(&number, &id, sizeof(number));
  if (batch.open || config->magic != 0xcafebeef || rank < 0 || rank >= ranks || number == 0) {
    return ncclInvalidArgument;
  }
  *communicator = new ncclComm{.clique = registry().find(number, ranks), .rank = rank, .device = 0};
  cudaGetDevice(&(*communicator)->device);
  (*communicator)->clique->connect(*config);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  communicator->registrations.expect_none();
  communicator->clique->disconnect(communicator->rank);
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t communicator, void* memory, size_t bytes,
                              void** handle) {
  check_memory(*communicator, "ncclCommRegister", memory, bytes);
  *handle = communicator->registrations.add(memory, bytes);
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t communicator, void* handle) {
  const cudaStream_t stream = communicator->stream;
  if (stream != nullptr && !stream->queue->done(stream->queue->end())) {
    fail("NCCL: memory is deregistered while calls of its communicator have not run");
  }
  communicator->registrations.remove(handle);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = asynchronous_error;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t status) {
  return status == ncclSuccess ? "no error" : "emulated error";
}

const char* ncclGetLastError(ncclComm_t) {
  return "";
}

ncclResult_t ncclGroupStart() {
  if (std::exchange(batch.open, true)) {
    fail("NCCL: a group of calls within another");
  }
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (!std::exchange(batch.open, false)) {
    fail("NCCL: the end of no group of calls");
  }
  return queue(std::exchange(batch.operations, {}));
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t communicator, cudaStream_t stream) {
  return start(communicator, stream, {"all_reduce", count, type, operation}, from, to);
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t communicator,
                               cudaStream_t stream) {
  return start(communicator, stream, {"reduce_scatter", count, type, operation}, from, to);
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  return start(communicator, stream, {"all_gather", count, type, 0}, from, to);
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t communicator, cudaStream_t stream) {
  return start(communicator, stream, {"broadcast", count, type, root}, from, to);
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  return start(communicator, stream, {"send", count, type, peer}, from, nullptr);
}

ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t communicator, cudaStream_t stream) {
  return start(communicator, stream, {"receive", count, type, peer}, nullptr, to);
}
