#include "kernels/linear/fp8_history.h"

namespace mpitron::kernels {

void run(device::ReferenceStream&, const Fp8HistoryUpdate& kernel) {
  const Index size = kernel.rows.size(1);
  for (Index row = 0; row < kernel.rows.size(0); ++row) {
    advance_fp8_history(kernel.rows.as<float>() + row * size, size, kernel.amax.as<float>()[row],
                        kernel.largest);
  }
}

}  // namespace mpitron::kernels
