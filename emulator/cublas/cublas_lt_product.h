#pragma once
#include "emulator/cublas/cublas_lt_problem.h"

namespace mpitron::emulator {

/// A product that the emulated libcublasLt has queued. Sums are taken in fp32 (fp64: in double), k
/// in order within each of its parts, and the parts in order. Memory that is not the GPU's ends the
/// program.
struct QueuedProduct {
  ProductProblem problem;
  double alpha, beta;
  const void* data[4];  // a, b, c, d
  void* workspace;      // filled with NaN: nobody else may use it meanwhile
  std::uint64_t workspace_bytes;
  std::int32_t split_k;  // parts of k

  void run() const;
};

/// Reads alpha or beta, which the host passes in the scale type.
double scalar_of(const void* value, cudaDataType_t type);

}  // namespace mpitron::emulator
