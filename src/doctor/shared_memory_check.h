#pragma once
#include "doctor/check_result.h"
#include "utils/shape.h"

namespace mpitron::doctor {

/// Size and free bytes of /dev/shm.
struct SharedMemory {
  bool is_there = false;
  Index bytes = 0;
  Index free = 0;
};

SharedMemory read_shared_memory();

/// MPI keeps 4 MiB per rank there, NCCL up to some tens: it must not be a container's 64 MiB.
CheckResult check_shared_memory(const SharedMemory& memory, Index ranks_of_node);

}  // namespace mpitron::doctor
