#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "emulator/device_memory.h"
#include "emulator/emulated_nccl.h"
#include "emulator/emulated_stream.h"
#include "emulator/failure.h"
#include "utils/dtype.h"

namespace mpitron::emulator {
namespace {

constexpr std::chrono::seconds kPatience{60};  // until ranks that do not come are missed

std::atomic<ncclResult_t> asynchronous_error{ncclSuccess};
std::atomic<std::uint64_t> identifiers{0};

DType dtype_of(ncclDataType_t type) {
  constexpr std::pair<ncclDataType_t, DType> kTypes[] = {
      {ncclFloat32, DType::f32}, {ncclBfloat16, DType::bf16}, {ncclFloat16, DType::f16},
      {ncclFloat64, DType::f64}, {ncclUint8, DType::u8},      {ncclInt8, DType::i8},
      {ncclInt32, DType::i32},   {ncclInt64, DType::i64}};
  const auto* const at = std::ranges::find(kTypes, type, &std::pair<ncclDataType_t, DType>::first);
  if (at == std::end(kTypes)) {
    fail("NCCL: type " + std::to_string(type) + " is not emulated");
  }
  return at->second;
}

/// The reduction of all inputs in their order, in `Sum`, rounded once.
template <class T, class Sum>
void reduce_as(const std::vector<const std::byte*>& inputs, std::byte* output, std::size_t n,
               int operation) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto element = [i](const std::byte* data) {
      return static_cast<Sum>(reinterpret_cast<const T*>(data)[i]);
    };
    Sum sum = element(inputs.front());
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const Sum other = element(inputs[k]);
      sum = operation == ncclMax   ? std::max(sum, other)
            : operation == ncclMin ? std::min(sum, other)
                                   : static_cast<Sum>(sum + other);
    }
    reinterpret_cast<T*>(output)[i] = static_cast<T>(sum);
  }
}

void reduce(const std::vector<const std::byte*>& inputs, std::byte* output, std::size_t n,
            const NcclCall& call) {
  switch (dtype_of(call.type)) {
    case DType::f32:
      return reduce_as<float, float>(inputs, output, n, call.detail);
    case DType::bf16:
      return reduce_as<BFloat16, float>(inputs, output, n, call.detail);
    case DType::f16:
      return reduce_as<Float16, float>(inputs, output, n, call.detail);
    case DType::f64:
      return reduce_as<double, double>(inputs, output, n, call.detail);
    case DType::i32:
      return reduce_as<std::int32_t, std::int32_t>(inputs, output, n, call.detail);
    case DType::i64:
      return reduce_as<std::int64_t, std::int64_t>(inputs, output, n, call.detail);
    default:
      fail("NCCL: no reduction of " + describe(call) + " is emulated");
  }
}

bool is_send(const NcclCall& call) {
  return std::strcmp(call.what, "send") == 0;
}
bool is_message(const NcclCall& call) {
  return is_send(call) || std::strcmp(call.what, "receive") == 0;
}

/// A call and where its data lies.
struct Operation {
  NcclCall call;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  bool moved = false;

  std::size_t bytes() const { return call.count * size_of(dtype_of(call.type)); }
};
using OperationHandle = std::shared_ptr<Operation>;

/// The ranks of one communicator. What each has called is known at once; what its stream has come
/// to is known as the stream runs.
class Clique {
 public:
  explicit Clique(int ranks)
      : history_{.ranks = std::vector<std::vector<NcclCall>>(static_cast<std::size_t>(ranks))},
        reached_(static_cast<std::size_t>(ranks)) {}

  std::size_t size() const { return reached_.size(); }

  /// Returns when all ranks have come.
  void connect(const ncclConfig_t& config) {
    std::unique_lock lock(mutex_);
    history_.config = config;
    history_.net_name = config.netName == nullptr ? "" : config.netName;
    ++connected_;
    changed_.notify_all();
    if (!changed_.wait_for(lock, kPatience, [this] { return connected_ == size(); })) {
      fail("NCCL: of the " + std::to_string(size()) + " ranks of a communicator " +
           std::to_string(connected_) + " have come");
    }
  }

  void disconnect(int rank) {
    const std::lock_guard lock(mutex_);
    if (!reached_[at(rank)].empty() || calls(rank).size() != collectives_[rank] + messages_[rank]) {
      fail("NCCL: rank " + std::to_string(rank) +
           " ends a communicator with operations that have not run: " + sequences(rank, rank));
    }
    ended_.insert(rank);
    for (const Row& other : counterparts({rank, -1, false})) {
      if (rows_[other].size() > rows_[{rank, -1, false}].size()) {
        fail_unequal(rank, other.rank);
      }
    }
  }

  void set_priority(int priority) {
    const std::lock_guard lock(mutex_);
    history_.priority = priority;
  }

  /// The rank makes a call; it must be what the others make in its place.
  void add(int rank, const NcclCall& call) {
    const std::lock_guard lock(mutex_);
    calls(rank).push_back(call);
    const Row row = row_of(rank, call);
    rows_[row].push_back(call);
    const std::size_t place = rows_[row].size() - 1;
    for (const Row& other : counterparts(row)) {
      const std::vector<NcclCall>& theirs = rows_[other];
      if (theirs.size() <= place && ended_.contains(other.rank)) {
        fail_unequal(other.rank, rank);
      }
      if (theirs.size() > place && !correspond(theirs[place], call)) {
        fail("NCCL: ranks " + std::to_string(rank) + " and " + std::to_string(other.rank) +
             " of a communicator call different things:" + sequences(rank, other.rank));
      }
    }
  }

  /// The rank's stream has come to the operation. Moves what can be moved.
  void reach(int rank, const OperationHandle& operation) {
    const std::lock_guard lock(mutex_);
    reached_[at(rank)].push_back(operation);
    if (is_message(operation->call)) {
      exchange(rank, *operation);
    } else {
      run_collective();
    }
  }
  bool moved(const Operation& operation) const {
    const std::lock_guard lock(mutex_);
    return operation.moved;
  }

  NcclHistory history() const {
    const std::lock_guard lock(mutex_);
    return history_;
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  std::vector<NcclCall>& calls(int rank) { return history_.ranks[at(rank)]; }
  const std::vector<NcclCall>& calls(int rank) const { return history_.ranks[at(rank)]; }

  /// Calls that correspond one by one to those of another row: the collectives of a rank, or its
  /// messages with a peer in one direction.
  struct Row {
    int rank, peer;
    bool sends;
    auto operator<=>(const Row&) const = default;
  };
  static Row row_of(int rank, const NcclCall& call) {
    return is_message(call) ? Row{rank, call.detail, is_send(call)} : Row{rank, -1, false};
  }
  /// Whose calls must correspond to those of the row.
  std::vector<Row> counterparts(const Row& row) const {
    if (row.peer >= 0) {
      return {{row.peer, row.rank, !row.sends}};
    }
    std::vector<Row> others;
    for (int other = 0; other < static_cast<int>(size()); ++other) {
      if (other != row.rank) {
        others.push_back({other, -1, false});
      }
    }
    return others;
  }
  static bool correspond(const NcclCall& a, const NcclCall& b) {
    const bool same_size = a.count == b.count && a.type == b.type;
    return is_message(a) ? same_size
                         : same_size && std::strcmp(a.what, b.what) == 0 && a.detail == b.detail;
  }

  [[noreturn]] void fail_unequal(int ended, int other) const {
    fail("NCCL: rank " + std::to_string(ended) + " has ended a communicator without what rank " +
         std::to_string(other) + " calls:" + sequences(ended, other));
  }

  std::string sequences(int rank, int other) const {
    std::string text;
    for (const int one : {rank, other}) {
      text += "\n  rank " + std::to_string(one) + ":";
      for (const NcclCall& call : calls(one)) {
        text += " " + describe(call) + ";";
      }
      if (rank == other) {
        break;
      }
    }
    return text;
  }

  /// The first operation that the rank's stream has come to, taken out; null where it is none.
  template <class Matches>
  OperationHandle take(int rank, const Matches& matches) {
    auto& operations = reached_[at(rank)];
    const auto found = std::ranges::find_if(
        operations, [&](const OperationHandle& one) { return matches(one->call); });
    if (found == operations.end()) {
      return nullptr;
    }
    OperationHandle taken = *found;
    operations.erase(found);
    taken->moved = true;
    ++(is_message(taken->call) ? messages_ : collectives_)[rank];
    return taken;
  }

  void exchange(int rank, const Operation& operation) {
    const bool sends = is_send(operation.call);
    const int sender = sends ? rank : operation.call.detail;
    const int receiver = sends ? operation.call.detail : rank;
    const auto is = [](const char* what, int peer) {
      return [what, peer](const NcclCall& call) {
        return std::strcmp(call.what, what) == 0 && call.detail == peer;
      };
    };
    const auto there = [&](int one, const auto& matches) {
      return std::ranges::any_of(
          reached_[at(one)], [&](const OperationHandle& handle) { return matches(handle->call); });
    };
    if (there(sender, is("send", receiver)) && there(receiver, is("receive", sender))) {
      const OperationHandle sent = take(sender, is("send", receiver));
      const OperationHandle received = take(receiver, is("receive", sender));
      std::memcpy(received->to, sent->from, sent->bytes());
    }
  }

  void run_collective() {
    const auto collective = [](const NcclCall& call) { return !is_message(call); };
    const bool all_there = std::ranges::all_of(reached_, [&](const auto& operations) {
      return std::ranges::any_of(operations,
                                 [&](const OperationHandle& one) { return collective(one->call); });
    });
    if (!all_there) {
      return;
    }
    std::vector<OperationHandle> members;
    for (int rank = 0; rank < static_cast<int>(size()); ++rank) {
      members.push_back(take(rank, collective));
    }
    move(members);
  }

  /// What the collective does, from the inputs as they are now.
  static void move(const std::vector<OperationHandle>& members) {
    const NcclCall& call = members.front()->call;
    const std::size_t bytes = members.front()->bytes();
    if (std::strcmp(call.what, "broadcast") == 0) {
      const std::byte* const from = members[at(call.detail)]->from;
      for (const OperationHandle& member : members) {
        std::memmove(member->to, from, bytes);
      }
      return;
    }
    const bool gathers = std::strcmp(call.what, "all_gather") == 0;
    const bool scatters = std::strcmp(call.what, "reduce_scatter") == 0;
    std::vector<std::byte> whole(gathers || scatters ? bytes * members.size() : bytes);
    if (gathers) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        std::memcpy(whole.data() + i * bytes, members[i]->from, bytes);
      }
    } else {
      std::vector<const std::byte*> inputs;
      for (const OperationHandle& member : members) {
        inputs.push_back(member->from);
      }
      reduce(inputs, whole.data(), whole.size() / size_of(dtype_of(call.type)), call);
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::memcpy(members[i]->to, whole.data() + (scatters ? i * bytes : 0),
                  scatters ? bytes : whole.size());
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t connected_ = 0;
  NcclHistory history_;
  std::map<Row, std::vector<NcclCall>> rows_;  // the same, as they have to correspond
  std::set<int> ended_;
  std::vector<std::vector<OperationHandle>> reached_;  // of each rank, and not yet moved
  std::map<int, std::size_t> collectives_, messages_;  // moved, of each rank
};

/// All communicators, by identifier.
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

/// One task: it has run when all of its operations have. A graph makes its calls whenever it is
/// launched.
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

void check_memory(const ncclComm& communicator, const char* what, const void* memory,
                  std::size_t bytes) {
  if (bytes > 0 && memory != nullptr &&
      !(is_device_memory(memory) && inside_one_block(memory, bytes) &&
        device_of(memory) == communicator.device)) {
    fail(std::string("NCCL: ") + what + ": " + std::to_string(bytes) +
         " bytes do not lie in one block of the communicator's GPU");
  }
}

/// `reads`, `writes`: bytes of the two ends.
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

std::string describe(const NcclCall& call) {
  return std::string(call.what) + "(" + std::to_string(call.count) + " " +
         name_of(dtype_of(call.type)) + ", " + std::to_string(call.detail) + ")";
}

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
  communicator->clique->disconnect(communicator->rank);
  delete communicator;
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
