// Asks Linux for the state of the matrix units, which a process must request once (arch_prctl,
// since Linux 5.16).
#include "kernels/host/linear/matrix_unit.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace mpitron::kernels::host::packed {

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)

bool has_tiles() {
  constexpr long kRequestState = 0x1023, kTileData = 18;  // of arch_prctl
  static const bool allowed = ::syscall(SYS_arch_prctl, kRequestState, kTileData) == 0;
  return allowed;
}

#else

bool has_tiles() {
  return false;
}

#endif

}  // namespace mpitron::kernels::host::packed
