// Chooses among a few made-up algorithms as libcublasLt does among its many: by alignment,
// workspace and the schemes that the caller allows.
#include "emulator/cublas/cublas_lt_algorithm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

namespace mpitron::emulator {
namespace {

/// Numbers of two algorithms: one takes every alignment and no workspace, the other reads
/// kVectorBytes at once.
constexpr std::int32_t kPlain = 10, kVectors = 66;
constexpr std::uint64_t kVectorBytes = 16;
/// Bytes of workspace for each part of k.
constexpr std::uint64_t kWorkspace = 4096;

/// Lists every configuration that there is, in the order of the heuristic. The first one stands for
/// those that add parts in the type of the result, which no product of ours may do: no other has as
/// many parts, so a caller that takes it has other bits.
constexpr Algorithm kAlgorithms[] = {
    {.id = kVectors,
     .tile = CUBLASLT_MATMUL_TILE_128x128,
     .stages = CUBLASLT_MATMUL_STAGES_64x4,
     .split_k = 4,
     .reduction = CUBLASLT_REDUCTION_SCHEME_INPLACE,
     .cluster = CUBLASLT_CLUSTER_SHAPE_2x1x1},
    {.id = kVectors,
     .tile = CUBLASLT_MATMUL_TILE_128x128,
     .stages = CUBLASLT_MATMUL_STAGES_64x4,
     .cluster = CUBLASLT_CLUSTER_SHAPE_2x1x1},
    {.id = kVectors,
     .tile = CUBLASLT_MATMUL_TILE_64x128,
     .stages = CUBLASLT_MATMUL_STAGES_64x3,
     .split_k = 2,
     .reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
     .swizzle = 1,
     .inner_shape = CUBLASLT_MATMUL_INNER_SHAPE_MMA16816},
    {.id = kVectors,
     .tile = CUBLASLT_MATMUL_TILE_64x128,
     .stages = CUBLASLT_MATMUL_STAGES_64x3,
     .split_k = 3,
     .reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE,
     .custom = 5},
    {.id = kPlain, .tile = CUBLASLT_MATMUL_TILE_32x32},
};

auto settings_of(const Algorithm& a) {
  return std::tie(a.id, a.tile, a.stages, a.split_k, a.reduction, a.swizzle, a.custom,
                  a.inner_shape, a.cluster);
}

bool exists(const Algorithm& algorithm) {
  return std::ranges::any_of(kAlgorithms, [&](const Algorithm& known) {
    return settings_of(known) == settings_of(algorithm);
  });
}

}  // namespace

std::uint64_t Algorithm::workspace_bytes() const {
  return id == kPlain ? 0 : kWorkspace * static_cast<std::uint64_t>(split_k);
}

std::uint64_t Algorithm::alignment_of(Matrix matrix) const {
  const std::uint64_t own =
      id == kPlain ? size_of(static_cast<cudaDataType_t>(types[matrix])) : kVectorBytes;
  return std::max<std::uint64_t>(own, alignment[matrix]);
}

Algorithm load(const cublasLtMatmulAlgo_t& algorithm) {
  static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));
  Algorithm result;
  std::memcpy(static_cast<void*>(&result), &algorithm, sizeof(result));
  return result;
}

void store(const Algorithm& from, cublasLtMatmulAlgo_t& to) {
  to = {};
  std::memcpy(&to, &from, sizeof(from));
}

std::vector<Algorithm> answers(const ProductProblem& problem, const AlgorithmPreference& wanted) {
  std::vector<Algorithm> found;
  for (Algorithm algorithm : kAlgorithms) {
    for (const Matrix matrix : {matrix_a, matrix_b, matrix_c, matrix_d}) {
      algorithm.types[matrix] = static_cast<std::uint16_t>(problem.layouts[matrix].type);
    }
    const bool is_aligned = std::ranges::all_of(
        std::array{matrix_a, matrix_b, matrix_c, matrix_d},
        [&](Matrix matrix) { return wanted.alignment[matrix] >= algorithm.alignment_of(matrix); });
    const bool adds_as_wanted = (algorithm.reduction & ~wanted.reduction) == 0;
    if (is_aligned && adds_as_wanted && algorithm.workspace_bytes() <= wanted.workspace &&
        status_of(algorithm, problem) == CUBLAS_STATUS_SUCCESS) {
      algorithm.problem = fingerprint_of(problem);
      std::ranges::copy(wanted.alignment, algorithm.alignment);
      found.push_back(algorithm);
    }
  }
  return found;
}

cublasStatus_t status_of(const Algorithm& algorithm, const ProductProblem& problem) {
  if (const cublasStatus_t status = status_of(problem); status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  const bool is_for_it = algorithm.problem == 0 || algorithm.problem == fingerprint_of(problem);
  const bool has_types = std::ranges::equal(
      algorithm.types, problem.layouts, {}, {},
      [](const MatrixLayout& layout) { return static_cast<std::uint16_t>(layout.type); });
  if (!is_for_it || !has_types) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return exists(algorithm) && static_cast<std::uint64_t>(algorithm.split_k) <= problem.k()
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace mpitron::emulator
