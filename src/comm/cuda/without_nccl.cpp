// Stands in for NCCL in builds without it: the option is refused when it is asked for, with what to
// use instead.
#include "comm/cuda/nccl_groups.h"
#include "utils/error.h"

namespace mpitron::comm {

std::unique_ptr<NcclGroups> make_nccl_groups(device::Device&, std::shared_ptr<ProgressEngine>,
                                             const DeviceTransport&) {
  throw_environment(
      "--distributed-backend nccl: NCCL (nccl.h, libnccl) was not there when this program was "
      "built; use --distributed-backend mpi, which sends tensors through the host");
}

}  // namespace mpitron::comm
