// The functions of libcublasLt that kernels/cuda/gemm.cpp calls, for the emulator. Sums are taken
// in fp32 (fp64: in double), k in order. What the library's manual does not allow (types, sizes,
// alignment, epilogues, an algorithm made for another problem) is refused with the library's
// status; queued work that meets memory which is not the GPU's ends the program.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <cublasLt.h>

#include "tests/emulator/device_memory.h"
#include "tests/emulator/emulated_stream.h"
#include "tests/emulator/failure.h"
#include "utils/float16.h"
#include "utils/float8.h"
#include "utils/hash.h"

struct cublasLtContext {};

namespace mpitron::emulator {
namespace {

struct Description {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  const void *a_scale = nullptr, *b_scale = nullptr;  // of numbers of 8 bits; null: 1
};

struct Layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t stride;  // between columns, in elements
};

enum Matrix { matrix_a, matrix_b, matrix_c, matrix_d };

struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};

/// What the emulator keeps in cublasLtMatmulAlgo_t: the one problem that it was made for.
struct Algorithm {
  std::uint64_t problem;
  std::uint64_t workspace;
  std::uint32_t alignment[4];
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

/// Workspace that each algorithm asks for, and fills with NaN: nobody else may use it meanwhile.
constexpr std::uint64_t kWorkspace = 4096;

struct Problem {
  Description description;
  Layout layouts[4];

  std::uint64_t m() const { return layouts[matrix_d].rows; }
  std::uint64_t n() const { return layouts[matrix_d].columns; }
  std::uint64_t k() const {
    const Layout& a = layouts[matrix_a];
    return description.transpose_a == CUBLAS_OP_N ? a.columns : a.rows;
  }
  bool has_bias() const {
    return description.epilogue == CUBLASLT_EPILOGUE_BIAS ||
           description.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  }
  bool has_gelu() const {
    return description.epilogue == CUBLASLT_EPILOGUE_GELU ||
           description.epilogue == CUBLASLT_EPILOGUE_GELU_BIAS;
  }
};

bool is_fp8(cudaDataType_t type) {
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

std::size_t size_of(cudaDataType_t type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : is_fp8(type) ? 1 : 2;
}

/// GPUs of compute capability 9.0 multiply a^T b where 16 divides m and k.
bool fp8_is_supported(const Problem& p) {
  const auto type = [&](Matrix matrix) { return p.layouts[matrix].type; };
  const bool types = (type(matrix_a) == CUDA_R_8F_E4M3 || type(matrix_b) == CUDA_R_8F_E4M3) &&
                     is_fp8(type(matrix_a)) && is_fp8(type(matrix_b)) &&
                     (type(matrix_d) == CUDA_R_32F || type(matrix_d) == CUDA_R_16BF);
  const bool epilogue =
      p.description.epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
      (p.description.epilogue == CUBLASLT_EPILOGUE_BIAS && type(matrix_d) == CUDA_R_16BF);
  const bool strides = std::ranges::all_of(p.layouts, [](const Layout& layout) {
    return layout.stride * static_cast<std::int64_t>(size_of(layout.type)) % 16 == 0;
  });
  return types && epilogue && strides && p.m() % 16 == 0 && p.k() % 16 == 0 &&
         p.description.transpose_a == CUBLAS_OP_T && p.description.transpose_b == CUBLAS_OP_N &&
         p.description.compute == CUBLAS_COMPUTE_32F && p.description.scale == CUDA_R_32F;
}

bool types_are_supported(const Problem& p) {
  const cudaDataType_t a = p.layouts[matrix_a].type, b = p.layouts[matrix_b].type;
  const cudaDataType_t c = p.layouts[matrix_c].type, d = p.layouts[matrix_d].type;
  if (c == d && (is_fp8(a) || is_fp8(b))) {
    return fp8_is_supported(p);
  }
  if (a != b || c != d) {
    return false;
  }
  if (p.description.compute == CUBLAS_COMPUTE_64F) {
    return p.description.scale == CUDA_R_64F && a == CUDA_R_64F && c == CUDA_R_64F &&
           p.description.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
  }
  return p.description.compute == CUBLAS_COMPUTE_32F && p.description.scale == CUDA_R_32F &&
         (a == CUDA_R_32F || a == CUDA_R_16BF || a == CUDA_R_16F) && (c == CUDA_R_32F || c == a);
}

bool sizes_fit(const Problem& p) {
  const auto rows_of = [&](Matrix matrix, cublasOperation_t operation) {
    const Layout& layout = p.layouts[matrix];
    return operation == CUBLAS_OP_N ? layout.rows : layout.columns;
  };
  const Layout& b = p.layouts[matrix_b];
  const std::uint64_t b_columns = p.description.transpose_b == CUBLAS_OP_N ? b.columns : b.rows;
  const Layout &c = p.layouts[matrix_c], &d = p.layouts[matrix_d];
  return rows_of(matrix_a, p.description.transpose_a) == p.m() &&
         rows_of(matrix_b, p.description.transpose_b) == p.k() && b_columns == p.n() &&
         c.rows == d.rows && c.columns == d.columns && p.m() > 0 && p.n() > 0 && p.k() > 0 &&
         std::ranges::all_of(p.layouts, [](const Layout& layout) {
           return layout.stride >= static_cast<std::int64_t>(layout.rows);
         });
}

cublasStatus_t status_of(const Problem& p) {
  return !sizes_fit(p)             ? CUBLAS_STATUS_INVALID_VALUE
         : !types_are_supported(p) ? CUBLAS_STATUS_NOT_SUPPORTED
                                   : CUBLAS_STATUS_SUCCESS;
}

std::uint64_t fingerprint_of(const Problem& p) {
  std::vector<std::uint64_t> words;
  const auto add = [&](auto value) { words.push_back(static_cast<std::uint64_t>(value)); };
  add(p.description.compute), add(p.description.transpose_a), add(p.description.transpose_b);
  add(p.description.epilogue);
  for (const Layout& layout : p.layouts) {
    add(layout.type), add(layout.rows), add(layout.columns), add(layout.stride);
  }
  return hash64({reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])});
}

bool is_aligned(const void* address, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

// --- the product itself, when the stream runs ---------------------------------------------------

template <class Sum>
Sum load(const void* data, cudaDataType_t type, std::int64_t i) {
  switch (type) {
    case CUDA_R_64F:
      return static_cast<Sum>(static_cast<const double*>(data)[i]);
    case CUDA_R_8F_E4M3:
      return static_cast<Sum>(from_fp8(static_cast<const std::uint8_t*>(data)[i], Fp8Format::e4m3));
    case CUDA_R_8F_E5M2:
      return static_cast<Sum>(from_fp8(static_cast<const std::uint8_t*>(data)[i], Fp8Format::e5m2));
    case CUDA_R_16BF:
      return static_cast<Sum>(static_cast<float>(static_cast<const BFloat16*>(data)[i]));
    case CUDA_R_16F:
      return static_cast<Sum>(static_cast<float>(static_cast<const Float16*>(data)[i]));
    default:
      return static_cast<Sum>(static_cast<const float*>(data)[i]);
  }
}

template <class Sum>
void store(void* data, cudaDataType_t type, std::int64_t i, Sum value) {
  switch (type) {
    case CUDA_R_64F:
      static_cast<double*>(data)[i] = static_cast<double>(value);
      break;
    case CUDA_R_16BF:
      static_cast<BFloat16*>(data)[i] = BFloat16(static_cast<float>(value));
      break;
    case CUDA_R_16F:
      static_cast<Float16*>(data)[i] = Float16(static_cast<float>(value));
      break;
    default:
      static_cast<float*>(data)[i] = static_cast<float>(value);
  }
}

struct Task {
  Problem problem;
  double alpha, beta;
  const void* data[4];  // a, b, c, d
  void* workspace;
  std::uint64_t workspace_bytes;

  void run() const;
  template <class Sum>
  void multiply() const;
  template <class Sum>
  Sum finish(Sum sum, std::int64_t row, std::int64_t offset) const;
};

/// The columns of a matrix one after the other, or with `by_rows` its rows.
template <class Sum>
std::vector<Sum> dense(const Layout& layout, const void* data, bool by_rows) {
  const auto rows = static_cast<std::int64_t>(layout.rows);
  const auto columns = static_cast<std::int64_t>(layout.columns);
  std::vector<Sum> result(static_cast<std::size_t>(rows * columns));
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t to = by_rows ? row * columns + column : column * rows + row;
      result[static_cast<std::size_t>(to)] =
          load<Sum>(data, layout.type, column * layout.stride + row);
    }
  }
  return result;
}

template <class Sum>
Sum Task::finish(Sum sum, std::int64_t row, std::int64_t offset) const {
  Sum value = static_cast<Sum>(alpha) * sum;
  for (const void* scale : {problem.description.a_scale, problem.description.b_scale}) {
    value *= scale != nullptr ? load<Sum>(scale, CUDA_R_32F, 0) : Sum(1);
  }
  if (beta != 0) {
    const Layout& c = problem.layouts[matrix_c];
    value += static_cast<Sum>(beta) * load<Sum>(data[matrix_c], c.type, offset);
  }
  if (problem.has_bias()) {
    value += load<Sum>(problem.description.bias, problem.layouts[matrix_d].type, row);
  }
  if (problem.has_gelu()) {
    const Sum u = Sum(0.7978845608028654) * (value + Sum(0.044715) * value * value * value);
    value = Sum(0.5) * value * (1 + std::tanh(u));
  }
  return value;
}

template <class Sum>
void Task::multiply() const {
  const auto m = static_cast<std::int64_t>(problem.m()), n = static_cast<std::int64_t>(problem.n());
  const auto k = static_cast<std::int64_t>(problem.k());
  const Layout& d = problem.layouts[matrix_d];
  // op(a) [m, k] by columns, op(b) [k, n] by columns.
  const std::vector<Sum> a = dense<Sum>(problem.layouts[matrix_a], data[matrix_a],
                                        problem.description.transpose_a == CUBLAS_OP_T);
  const std::vector<Sum> b = dense<Sum>(problem.layouts[matrix_b], data[matrix_b],
                                        problem.description.transpose_b == CUBLAS_OP_T);
  std::vector<Sum> sums(static_cast<std::size_t>(m));
  for (std::int64_t column = 0; column < n; ++column) {
    std::fill(sums.begin(), sums.end(), Sum(0));
    for (std::int64_t i = 0; i < k; ++i) {
      const Sum factor = b[static_cast<std::size_t>(column * k + i)];
      const Sum* from = a.data() + i * m;
      for (std::int64_t row = 0; row < m; ++row) {
        sums[static_cast<std::size_t>(row)] += from[row] * factor;
      }
    }
    for (std::int64_t row = 0; row < m; ++row) {
      const std::int64_t offset = column * d.stride + row;
      store(const_cast<void*>(data[matrix_d]), d.type, offset,
            finish(sums[static_cast<std::size_t>(row)], row, offset));
    }
  }
}

void require_device_memory(const char* what, const void* address, std::uint64_t bytes) {
  if (!inside_one_block(address, bytes)) {
    fail(std::string("cublasLtMatmul: ") + what + " is not memory of a GPU that is in use");
  }
}

void Task::run() const {
  constexpr const char* kNames[] = {"matrix A", "matrix B", "matrix C", "matrix D"};
  for (int i = 0; i < 4; ++i) {
    const Layout& layout = problem.layouts[i];
    const std::uint64_t elements =
        (layout.columns - 1) * static_cast<std::uint64_t>(layout.stride) + layout.rows;
    require_device_memory(kNames[i], data[i], elements * size_of(layout.type));
  }
  if (problem.has_bias()) {
    const cudaDataType_t type = problem.layouts[matrix_d].type;
    require_device_memory("the bias", problem.description.bias, problem.m() * size_of(type));
  }
  for (const void* scale : {problem.description.a_scale, problem.description.b_scale}) {
    if (scale != nullptr) {
      require_device_memory("a scale", scale, sizeof(float));
    }
  }
  if (workspace_bytes > 0) {
    require_device_memory("the workspace", workspace, workspace_bytes);
    std::memset(workspace, 0xff, workspace_bytes);
  }
  if (problem.description.compute == CUBLAS_COMPUTE_64F) {
    multiply<double>();
  } else {
    multiply<float>();
  }
}

// --- the library's opaque types -----------------------------------------------------------------

Description* unwrap(cublasLtMatmulDesc_t it) {
  return reinterpret_cast<Description*>(it);
}
Layout* unwrap(cublasLtMatrixLayout_t it) {
  return reinterpret_cast<Layout*>(it);
}
Preference* unwrap(cublasLtMatmulPreference_t it) {
  return reinterpret_cast<Preference*>(it);
}

template <class T>
cublasStatus_t assign(T& to, const void* from, std::size_t bytes) {
  if (from == nullptr || bytes != sizeof(T)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

double scalar_of(const void* value, cudaDataType_t type) {
  return load<double>(value, type, 0);
}

bool pointers_fit(const Task& task, const Algorithm& algorithm) {
  for (int i = 0; i < 4; ++i) {
    if (task.data[i] == nullptr || !is_aligned(task.data[i], algorithm.alignment[i])) {
      return false;
    }
  }
  const void* bias = task.problem.description.bias;
  return (!task.problem.has_bias() || (bias != nullptr && is_aligned(bias, 16))) &&
         task.workspace_bytes >= algorithm.workspace &&
         (algorithm.workspace == 0 ||
          (task.workspace != nullptr && is_aligned(task.workspace, 256)));
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
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, stride});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete unwrap(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete unwrap(description);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  Description& d = *unwrap(description);
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
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete unwrap(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, std::size_t bytes) {
  Preference& p = *unwrap(preference);
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
  const Problem problem{*unwrap(description), {*unwrap(a), *unwrap(b), *unwrap(c), *unwrap(d)}};
  const Preference& wanted = *unwrap(preference);
  const cublasStatus_t status = status_of(problem);
  if (status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  Algorithm algorithm{fingerprint_of(problem), wanted.workspace < kWorkspace ? 0 : kWorkspace, {}};
  std::ranges::copy(wanted.alignment, algorithm.alignment);
  results[0] = {};
  std::memcpy(&results[0].algo, &algorithm, sizeof(algorithm));
  results[0].workspaceSize = algorithm.workspace;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

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
  const Problem problem{
      *unwrap(description),
      {*unwrap(a_layout), *unwrap(b_layout), *unwrap(c_layout), *unwrap(d_layout)}};
  const cudaDataType_t scale = problem.description.scale;
  const Task task{problem,   scalar_of(alpha, scale), scalar_of(beta, scale), {a, b, c, d},
                  workspace, workspace_bytes};
  Algorithm algorithm;
  std::memcpy(&algorithm, algo, sizeof(algorithm));
  const cublasStatus_t status = status_of(problem);
  if (status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  if (algorithm.problem != fingerprint_of(problem) || !pointers_fit(task, algorithm)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const cudaError_t queued = enqueue(stream, "cublasLtMatmul", [task] {
    task.run();
    return true;
  });
  return queued == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
