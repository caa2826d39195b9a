#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <nccl.h>

// The part of NCCL that we call, for ranks that are threads of this process. Stricter than NCCL:
// - The calls of a communicator's ranks are compared as they are made: where two differ (kind,
//   count, type, operation or root; of messages their size), the process ends with both sequences.
// - A communicator's operations run on one stream each, on tensors within one block of its GPU.
// - What is registered lies in one block of ncclMemAlloc and of the communicator's GPU, and is
//   struck out before it is freed or its communicator ends, when nothing queued can use it.
// - A group of calls that is left open, an operation that has not run when its communicator ends,
//   and ranks that made unequal numbers of calls end the process too.
// Sums run in rank order, in fp32 for half types, so that they equal those of the host's
// transports.

namespace mpitron::emulator {

/// A call as a rank made it.
struct NcclCall {
  const char* what;  // "all_reduce", "send", ...
  std::size_t count;
  ncclDataType_t type;
  int detail;  // the operation (ncclRedOp_t), the root or the peer
};
std::string describe(const NcclCall& call);

/// Calls of the ranks of one communicator, in order.
struct NcclHistory {
  std::vector<std::vector<NcclCall>> ranks;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;  // without the name, which may be gone
  std::string net_name = {};
  int priority = 0;  // of the stream
  /// How many calls of each rank had all of their data in registered memory; tests count these.
  std::vector<std::size_t> registered = {};
};
/// Returns the histories of all communicators since the program began, or since this was last
/// called.
std::vector<NcclHistory> take_nccl_histories();

/// Counts the blocks of ncclMemAlloc that are not yet freed.
std::size_t nccl_blocks();
/// Sets the version that ncclGetVersion tells from now on; 0: that of the header.
void set_nccl_version(int version);

/// Makes every communicator report this as its asynchronous error from now on; ncclSuccess: none
/// does.
void break_nccl(ncclResult_t error);

}  // namespace mpitron::emulator
