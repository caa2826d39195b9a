// The functions of libcublasLt that gemm.cpp calls, for the emulator. What its manual
// does not allow (types, sizes, alignment, epilogues, an algorithm made for another problem) is
// refused with the library's status; queued work that meets memory which is not the GPU's ends the
// program.
#include <algorithm>
#include <cstring>

#include <cublasLt.h>

#include "emulator/cublas/cublas_lt_algorithm.h"
#include "emulator/cublas/cublas_lt_product.h"
#include "emulator/device/emulated_stream.h"
#include "emulator/device/failure.h"

struct cublasLtContext {};

namespace mpitron::emulator {
namespace {

ProductDescription* unwrap(cublasLtMatmulDesc_t it) {
  return reinterpret_cast<ProductDescription*>(it);
}
MatrixLayout* unwrap(cublasLtMatrixLayout_t it) {
  return reinterpret_cast<MatrixLayout*>(it);
}
AlgorithmPreference* unwrap(cublasLtMatmulPreference_t it) {
  return reinterpret_cast<AlgorithmPreference*>(it);
}

/// Copies an attribute's value after checking its size, as the library does: a wrong size is how
/// mistakes in attribute types show.
template <class T>
cublasStatus_t assign(T& to, const void* from, std::size_t bytes) {
  if (from == nullptr || bytes != sizeof(T)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

/// Gathers descriptor and layouts into one value, which is copied into the queue: callers may
/// destroy theirs while the product waits.
ProductProblem problem_of(cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,
                          cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                          cublasLtMatrixLayout_t d) {
  return {*unwrap(description), {*unwrap(a), *unwrap(b), *unwrap(c), *unwrap(d)}};
}

bool is_aligned(const void* address, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

/// Tells whether every pointer is aligned as the algorithm was promised.
bool pointers_fit(const QueuedProduct& product, const Algorithm& algorithm) {
  for (const Matrix matrix : {matrix_a, matrix_b, matrix_c, matrix_d}) {
    if (product.data[matrix] == nullptr ||
        !is_aligned(product.data[matrix], algorithm.alignment_of(matrix))) {
      return false;
    }
  }
  const void* bias = product.problem.description.bias;
  const std::uint64_t workspace = algorithm.workspace_bytes();
  return (!product.problem.has_bias() || (bias != nullptr && is_aligned(bias, 16))) &&
         product.workspace_bytes >= workspace &&
         (workspace == 0 || (product.workspace != nullptr && is_aligned(product.workspace, 256)));
}

/// Describes an algorithm to the caller, with the workspace that it needs.
cublasLtMatmulHeuristicResult_t result_of(const Algorithm& algorithm) {
  cublasLtMatmulHeuristicResult_t result{};
  store(algorithm, result.algo);
  result.workspaceSize = algorithm.workspace_bytes();
  result.state = CUBLAS_STATUS_SUCCESS;
  return result;
}

/// Calls `visit` with the setting of this name; false where there is none.
template <class Algorithm, class Visit>
bool visit_setting(Algorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t name,
                   const Visit& visit) {
  switch (name) {
    case CUBLASLT_ALGO_CONFIG_ID:
      return visit(algorithm.id), true;
    case CUBLASLT_ALGO_CONFIG_TILE_ID:
      return visit(algorithm.tile), true;
    case CUBLASLT_ALGO_CONFIG_SPLITK_NUM:
      return visit(algorithm.split_k), true;
    case CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME:
      return visit(algorithm.reduction), true;
    case CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING:
      return visit(algorithm.swizzle), true;
    case CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION:
      return visit(algorithm.custom), true;
    case CUBLASLT_ALGO_CONFIG_STAGES_ID:
      return visit(algorithm.stages), true;
    case CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID:
      return visit(algorithm.inner_shape), true;
    case CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID:
      return visit(algorithm.cluster), true;
    default:
      return false;
  }
}

}  // namespace
}  // namespace mpitron::emulator

using namespace mpitron::emulator;  // NOLINT: the functions below are the library's

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return cublasLtGetStatusName(status);
}

std::size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t stride) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new MatrixLayout{type, rows, columns, stride});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete unwrap(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(new ProductDescription{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete unwrap(description);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  ProductDescription& d = *unwrap(description);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return assign(d.transpose_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return assign(d.transpose_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return assign(d.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return assign(d.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return assign(d.a_scale, value, bytes);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return assign(d.b_scale, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new AlgorithmPreference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete unwrap(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  AlgorithmPreference& p = *unwrap(preference);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return assign(p.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return assign(p.reduction, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return assign(p.alignment[matrix_a], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return assign(p.alignment[matrix_b], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return assign(p.alignment[matrix_c], value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return assign(p.alignment[matrix_d], value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

/// Names algorithms for a problem, only those whose workspace and alignment the caller has allowed.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  *found = 0;
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (requested < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const ProductProblem problem = problem_of(description, a, b, c, d);
  if (const cublasStatus_t status = status_of(problem); status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  for (const Algorithm& answer : answers(problem, *unwrap(preference))) {
    if (*found < requested) {
      results[(*found)++] = result_of(answer);
    }
  }
  return *found > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

/// Makes an algorithm from its number, without a problem: it must pass cublasLtMatmulAlgoCheck
/// before it computes one.
cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t, cudaDataType_t,
                                      cudaDataType_t a, cudaDataType_t b, cudaDataType_t c,
                                      cudaDataType_t d, int id, cublasLtMatmulAlgo_t* algorithm) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  Algorithm made{.id = id};
  std::ranges::transform(std::initializer_list<cudaDataType_t>{a, b, c, d}, made.types,
                         [](cudaDataType_t type) { return static_cast<std::uint16_t>(type); });
  store(made, *algorithm);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t name,
                                                    const void* value, std::size_t bytes) {
  Algorithm changed = load(*algorithm);
  cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE;
  const bool known =
      name != CUBLASLT_ALGO_CONFIG_ID &&
      visit_setting(changed, name, [&](auto& setting) { status = assign(setting, value, bytes); });
  store(changed, *algorithm);
  return known ? status : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t name,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
  const Algorithm told = load(*algorithm);
  const bool known = visit_setting(told, name, [&](const auto& setting) {
    *written = bytes == sizeof(setting) ? bytes : 0;
    std::memcpy(value, &setting, *written);
  });
  return known && *written > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  const Algorithm checked = load(*algorithm);
  const cublasStatus_t status = status_of(checked, problem_of(description, a, b, c, d));
  if (status == CUBLAS_STATUS_SUCCESS) {
    const cublasLtMatmulAlgo_t untouched = result->algo;
    *result = result_of(checked);
    result->algo = untouched;
  }
  return status;
}

/// Queues a product. Everything that can be checked without the data is refused here with a status;
/// the memory itself is checked when the stream runs.
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  if (handle == nullptr) {
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  if (alpha == nullptr || beta == nullptr || algo == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const ProductProblem problem = problem_of(description, a_layout, b_layout, c_layout, d_layout);
  const Algorithm algorithm = load(*algo);
  const cudaDataType_t scale = problem.description.scale;
  const QueuedProduct product{.problem = problem,
                              .alpha = scalar_of(alpha, scale),
                              .beta = scalar_of(beta, scale),
                              .data = {a, b, c, d},
                              .workspace = workspace,
                              .workspace_bytes = workspace_bytes,
                              .split_k = algorithm.split_k};
  if (const cublasStatus_t status = status_of(algorithm, problem);
      status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  if (!pointers_fit(product, algorithm)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (const cublasStatus_t status = status_of_extras(problem); status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  if (algorithm.reduction == CUBLASLT_REDUCTION_SCHEME_INPLACE) {
    fail("cublasLtMatmul: an algorithm runs that adds its parts in the type of the result");
  }
  const cudaError_t queued = enqueue(stream, "cublasLtMatmul", [product] {
    product.run();
    return true;
  });
  return queued == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
