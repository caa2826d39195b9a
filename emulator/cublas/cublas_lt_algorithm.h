#pragma once
#include <vector>

#include "emulator/cublas/cublas_lt_problem.h"

// Holds the algorithms of the emulated libcublasLt: they differ in how many parts of k they add,
// and so in their bits. One that the heuristic named for a shape is refused for another.
namespace mpitron::emulator {

/// Requirements that a caller tells the heuristic; arrays are in the order of Matrix.
struct AlgorithmPreference {
  std::uint64_t workspace = 0;
  std::uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};

/// Contents of cublasLtMatmulAlgo_t as the emulator fills it.
struct Algorithm {
  std::uint64_t problem = 0;  // the one that the heuristic named it for; 0: made from its number
  std::int32_t id = 0;
  std::uint32_t tile = 0, stages = 0;
  std::int32_t split_k = 1;
  std::uint32_t reduction = 0, swizzle = 0, custom = 0;
  std::uint16_t inner_shape = 0, cluster = 0;
  std::uint16_t types[4] = {};      // of the matrices
  std::uint16_t alignment[4] = {};  // bytes that the heuristic was promised; 0: its own need

  std::uint64_t workspace_bytes() const;
  /// Returns the bytes by which pointers to a matrix must be aligned.
  std::uint64_t alignment_of(Matrix matrix) const;
};

/// Copies an algorithm out of and into the library's opaque type.
Algorithm load(const cublasLtMatmulAlgo_t& algorithm);
void store(const Algorithm& from, cublasLtMatmulAlgo_t& to);

/// Returns the algorithms that the heuristic names for a problem, best first.
std::vector<Algorithm> answers(const ProductProblem& problem, const AlgorithmPreference& wanted);
/// Returns success where the algorithm computes this problem, else the library's answer.
cublasStatus_t status_of(const Algorithm& algorithm, const ProductProblem& problem);

}  // namespace mpitron::emulator
