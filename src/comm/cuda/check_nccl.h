#pragma once
#include <nccl.h>

namespace mpitron::comm {

/// Turns a failed NCCL call into Error(environment); `what` says what was being done.
void check(ncclResult_t status, const char* what);

}  // namespace mpitron::comm
