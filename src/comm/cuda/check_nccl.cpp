#include "comm/cuda/check_nccl.h"

#include "utils/error.h"

namespace mpitron::comm {

void check(ncclResult_t status, const char* what) {
  if (status != ncclSuccess) {
    const char* const detail = ncclGetLastError(nullptr);
    throw_environment("NCCL: {}: {} ({}); NCCL_DEBUG=INFO tells more", what,
                      ncclGetErrorString(status), detail == nullptr ? "" : detail);
  }
}

}  // namespace mpitron::comm
