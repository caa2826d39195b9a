// Multiplies 8-bit factors on the host by the steps of fp8_product_steps.cpp: decode both to bf16,
// which holds every 8-bit number, multiply with fp32 sums, divide by the scales and round once.
#include "kernels/linear/fp8_matmul.h"

#include "kernels/linear/fp8_product_steps.h"

namespace mpitron::kernels {

Index workspace_bytes(const device::HostStream& stream, const Fp8Matmul& kernel) {
  return Fp8ProductInBf16(kernel).workspace_bytes(stream);
}

void run(device::HostStream& stream, const Fp8Matmul& kernel) {
  check(kernel);
  Fp8ProductInBf16(kernel).run_on(stream);
}

}  // namespace mpitron::kernels
