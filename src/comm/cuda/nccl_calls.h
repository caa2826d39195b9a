#pragma once

#include <nccl.h>

#include "comm/groups/group.h"

namespace mpitron::comm {

/// Gives the operation to NCCL, which queues it on `stream`. `communicator` has the ranks of the
/// group in the group's order.
///
/// Numerical contract: NCCL chooses the order of sums and, in half types, rounds every partial sum;
/// every member gets the same bits, and gets them again with the same ranks, sizes and NCCL.
void call_collective(const Group& group, const Request& request, ncclComm_t communicator,
                     cudaStream_t stream);

/// A send or receive; `peer`: the other end's rank in `communicator`.
void call_message(const Request& request, int peer, ncclComm_t communicator, cudaStream_t stream);

/// Turns a failed NCCL call into Error(environment); `what` says what was being done.
void check(ncclResult_t status, const char* what);

}  // namespace mpitron::comm
