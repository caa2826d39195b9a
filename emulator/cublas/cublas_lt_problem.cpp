// Decides what the emulated libcublasLt multiplies. The tables follow the manual's list of
// supported types (cublasLtMatmul), as far as our products use it.
#include "emulator/cublas/cublas_lt_problem.h"

#include <algorithm>
#include <vector>

#include "utils/text/hash.h"

namespace mpitron::emulator {
namespace {

bool is_fp8(cudaDataType_t type) {
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

/// Tells whether a GPU of compute capability 9.0 multiplies these numbers of 8 bits: only a^T b,
/// where 16 divides m and k.
bool fp8_is_supported(const ProductProblem& p) {
  const auto type = [&](Matrix matrix) { return p.layouts[matrix].type; };
  const bool types = (type(matrix_a) == CUDA_R_8F_E4M3 || type(matrix_b) == CUDA_R_8F_E4M3) &&
                     is_fp8(type(matrix_a)) && is_fp8(type(matrix_b)) &&
                     (type(matrix_d) == CUDA_R_32F || type(matrix_d) == CUDA_R_16BF);
  const bool epilogue =
      p.description.epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
      (p.description.epilogue == CUBLASLT_EPILOGUE_BIAS && type(matrix_d) == CUDA_R_16BF);
  const bool strides = std::ranges::all_of(p.layouts, [](const MatrixLayout& layout) {
    return layout.stride * static_cast<std::int64_t>(size_of(layout.type)) % 16 == 0;
  });
  return types && epilogue && strides && p.m() % 16 == 0 && p.k() % 16 == 0 &&
         p.description.transpose_a == CUBLAS_OP_T && p.description.transpose_b == CUBLAS_OP_N &&
         p.description.compute == CUBLAS_COMPUTE_32F && p.description.scale == CUDA_R_32F;
}

bool types_are_supported(const ProductProblem& p) {
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

/// Checks that the transposed factors fit each other and the result.
bool sizes_fit(const ProductProblem& p) {
  const auto rows_of = [&](Matrix matrix, cublasOperation_t operation) {
    const MatrixLayout& layout = p.layouts[matrix];
    return operation == CUBLAS_OP_N ? layout.rows : layout.columns;
  };
  const MatrixLayout& b = p.layouts[matrix_b];
  const std::uint64_t b_columns = p.description.transpose_b == CUBLAS_OP_N ? b.columns : b.rows;
  const MatrixLayout &c = p.layouts[matrix_c], &d = p.layouts[matrix_d];
  return rows_of(matrix_a, p.description.transpose_a) == p.m() &&
         rows_of(matrix_b, p.description.transpose_b) == p.k() && b_columns == p.n() &&
         c.rows == d.rows && c.columns == d.columns && p.m() > 0 && p.n() > 0 && p.k() > 0 &&
         std::ranges::all_of(p.layouts, [](const MatrixLayout& layout) {
           return layout.stride >= static_cast<std::int64_t>(layout.rows);
         });
}

}  // namespace

std::size_t size_of(cudaDataType_t type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : is_fp8(type) ? 1 : 2;
}

cublasStatus_t status_of(const ProductProblem& p) {
  return !sizes_fit(p)             ? CUBLAS_STATUS_INVALID_VALUE
         : !types_are_supported(p) ? CUBLAS_STATUS_NOT_SUPPORTED
                                   : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t status_of_extras(const ProductProblem& p) {
  constexpr std::uintptr_t kAlignment = 16;
  const auto is_aligned = [](const void* scale) {
    return reinterpret_cast<std::uintptr_t>(scale) % kAlignment == 0;
  };
  if (p.description.bias != nullptr && !p.has_bias()) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return is_aligned(p.description.a_scale) && is_aligned(p.description.b_scale)
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_NOT_SUPPORTED;
}

std::uint64_t fingerprint_of(const ProductProblem& p) {
  std::vector<std::uint64_t> words;
  const auto add = [&](auto value) { words.push_back(static_cast<std::uint64_t>(value)); };
  add(p.description.compute), add(p.description.transpose_a), add(p.description.transpose_b);
  add(p.description.epilogue);
  for (const MatrixLayout& layout : p.layouts) {
    add(layout.type), add(layout.rows), add(layout.columns), add(layout.stride);
  }
  return 1 | hash64({reinterpret_cast<const char*>(words.data()), words.size() * sizeof(words[0])});
}

}  // namespace mpitron::emulator
