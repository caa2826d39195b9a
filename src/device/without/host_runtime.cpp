#include <omp.h>

#include "device/device.h"

namespace mpitron::device {

// Without Kokkos, OpenMP alone: it reads OMP_NUM_THREADS itself.
HostRuntime::HostRuntime(int threads) {
  if (threads > 0) {
    omp_set_num_threads(threads);
  }
}

HostRuntime::~HostRuntime() = default;

int HostRuntime::threads() {
  return omp_get_max_threads();
}

LibraryVersion kokkos_version() {
  return {"Kokkos", "left out", ""};
}

}  // namespace mpitron::device
