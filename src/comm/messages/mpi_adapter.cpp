#include "comm/messages/mpi_adapter.h"

#include <algorithm>
#include <exception>

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include "utils/check.h"
#include "utils/error.h"

// The only place that calls MPI: start and end of the program, the few collectives of the start,
// and messages that do not block. Collectives of training are made from these messages
// (message_collective.cpp) or from shared memory, so that their order of additions is ours.

namespace mpitron::comm {
namespace {

/// MPI counts in int; longer messages go in parts of this size.
constexpr Index kPart = Index{1} << 30;

/// Throws Error(environment) with MPI's own text: codes alone say little.
void check_mpi(int code) {
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw_environment("MPI: {}", std::string(text, static_cast<std::size_t>(length)));
  }
}

/// A message in one or several parts; it is done when all are.
class MpiTransfer final : public Messages::Transfer {
 public:
  void add(MPI_Request request) { requests_.push_back(request); }
  bool done() override {
    int all = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all,
                          MPI_STATUSES_IGNORE));
    return all != 0;
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// Waits until every rank is here. MPI_Finalize would wait as well, but as an entry in the
/// launcher's tables; Open MPI's launcher dies of such an entry, or hangs (PMIx_server_finalize),
/// where the ranks that are missing have ended the job meanwhile, and the exit code is lost.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  int all = 0;
  int code = MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (code == MPI_SUCCESS && all == 0) {
    code = MPI_Test(&request, &all, MPI_STATUS_IGNORE);
    ::usleep(all == 0 ? 100 : 0);
  }
}

/// Splits messages of more than kPart bytes, since MPI counts with int.
template <class Start>
std::unique_ptr<Messages::Transfer> in_parts(Index bytes, const Start& start) {
  auto transfer = std::make_unique<MpiTransfer>();
  for (Index at = 0; at < bytes; at += kPart) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(start(at, static_cast<int>(std::min(kPart, bytes - at)), &request));
    transfer->add(request);
  }
  return transfer;
}

}  // namespace

/// Initialises MPI with MPI_THREAD_FUNNELED: one thread of a rank calls it.
MpiAdapter::MpiAdapter() {
  int initialized = 0;
  check_mpi(MPI_Initialized(&initialized));
  if (initialized == 0) {
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
    owns_ = true;
  }
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size));
  rank_ = rank;
  size_ = size;
}

MpiAdapter::~MpiAdapter() {
  if (owns_ && std::uncaught_exceptions() == 0) {
    wait_for_all();
    MPI_Finalize();
  }
}

/// Reads how MPI names itself: "Open MPI v4.1.4, ..."; its first word decides which remedies fit.
launch::MpiLibrary MpiAdapter::library() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  check_mpi(MPI_Get_library_version(version, &length));
  Dl_info object{};
  const bool found = ::dladdr(reinterpret_cast<const void*>(&MPI_Init), &object) != 0;
  return launch::describe_mpi(std::string(version, static_cast<std::size_t>(length)),
                              found ? object.dli_fname : "");
}

/// Lists the ranks of one node as MPI sees it, which containers may split.
std::vector<Index> MpiAdapter::ranks_of_this_node() const {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  int size = 0;
  check_mpi(MPI_Comm_size(node, &size));
  std::vector<Index> ranks(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&rank_, 1, MPI_INT64_T, ranks.data(), 1, MPI_INT64_T, node));
  check_mpi(MPI_Comm_free(&node));
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

/// Gathers texts of one size, so that one call is enough.
std::vector<std::string> MpiAdapter::gather(const std::string& mine) const {
  const auto n = static_cast<int>(mine.size());
  std::string all(mine.size() * static_cast<std::size_t>(size_), '\0');
  check_mpi(MPI_Allgather(mine.data(), n, MPI_BYTE, all.data(), n, MPI_BYTE, MPI_COMM_WORLD));
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < all.size(); at += mine.size()) {
    parts.push_back(all.substr(at, mine.size()));
  }
  return parts;
}

int MpiAdapter::minimum(int value) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  return value;
}

void MpiAdapter::barrier() const {
  check_mpi(MPI_Barrier(MPI_COMM_WORLD));
}

std::unique_ptr<Messages::Transfer> MpiAdapter::send(Index to, int tag, const void* data,
                                                     Index bytes) {
  return in_parts(bytes, [=](Index at, int n, MPI_Request* request) {
    return MPI_Isend(static_cast<const char*>(data) + at, n, MPI_BYTE, static_cast<int>(to), tag,
                     MPI_COMM_WORLD, request);
  });
}

std::unique_ptr<Messages::Transfer> MpiAdapter::receive(Index from, int tag, void* data,
                                                        Index bytes) {
  return in_parts(bytes, [=](Index at, int n, MPI_Request* request) {
    return MPI_Irecv(static_cast<char*>(data) + at, n, MPI_BYTE, static_cast<int>(from), tag,
                     MPI_COMM_WORLD, request);
  });
}

int MpiAdapter::largest_tag() const {
  int* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found));
  return found != 0 ? *value : 32767;
}

}  // namespace mpitron::comm
