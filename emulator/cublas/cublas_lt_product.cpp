// Multiplies for the emulated libcublasLt. Sums of 16 and 8 bits follow the order and rounding of
// the matrix unit (matrix_unit.h); whole columns are added at a time, which is faster.
#include "emulator/cublas/cublas_lt_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "emulator/device/device_memory.h"
#include "emulator/device/failure.h"
#include "emulator/units/matrix_unit.h"
#include "utils/numbers/float16.h"
#include "utils/numbers/float8.h"

namespace mpitron::emulator {
namespace {

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

/// Copies the columns of a matrix one after the other, or with `by_rows` its rows, widened to the
/// type of sums.
template <class Sum>
std::vector<Sum> dense(const MatrixLayout& layout, const void* data, bool by_rows) {
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

/// Makes an element of d of its sum: scales, beta c and bias, in this order.
template <class Sum>
Sum finish(const QueuedProduct& product, Sum sum, std::int64_t row, std::int64_t offset) {
  const ProductProblem& problem = product.problem;
  Sum value = static_cast<Sum>(product.alpha) * sum;
  for (const void* scale : {problem.description.a_scale, problem.description.b_scale}) {
    value *= scale != nullptr ? load<Sum>(scale, CUDA_R_32F, 0) : Sum(1);
  }
  if (product.beta != 0) {
    const MatrixLayout& c = problem.layouts[matrix_c];
    value += static_cast<Sum>(product.beta) * load<Sum>(product.data[matrix_c], c.type, offset);
  }
  if (problem.has_bias()) {
    value += load<Sum>(problem.description.bias, problem.layouts[matrix_d].type, row);
  }
  return value;
}

/// Adds sums [m] += a b: a of `depth` columns of m, b of one of `depth`.
template <class Sum>
void add_column(cudaDataType_t, Sum* sums, const Sum* a, const Sum* b, std::int64_t m,
                std::int64_t depth) {
  for (std::int64_t i = 0; i < depth; ++i) {
    for (std::int64_t row = 0; row < m; ++row) {
      sums[row] += a[i * m + row] * b[i];
    }
  }
}
/// Adds fp32 without the matrix unit, as where TF32 is not allowed. Sums of numbers of 8 bits leave
/// the unit every kDepth of the depth, as without CUBLASLT_MATMUL_DESC_FAST_ACCUM.
void add_column(cudaDataType_t type, float* sums, const float* a, const float* b, std::int64_t m,
                std::int64_t depth) {
  if (type == CUDA_R_32F) {
    return add_column<float>(type, sums, a, b, m, depth);
  }
  if (type == CUDA_R_16BF || type == CUDA_R_16F) {
    return add_products(kMatrixUnit, sums, b, a, 1, m, depth);
  }
  constexpr std::int64_t kDepth = 128;
  std::vector<float> part(static_cast<std::size_t>(m));
  for (std::int64_t i = 0; i < depth; i += kDepth) {
    std::ranges::fill(part, 0.f);
    add_products(kFp8MatrixUnit, part.data(), b + i, a + i * m, 1, m, std::min(kDepth, depth - i));
    std::transform(part.begin(), part.end(), sums, sums, std::plus{});
  }
}

/// Multiplies column by column; each part of k is summed by itself and the parts are added in
/// order.
template <class Sum>
void multiply(const QueuedProduct& product) {
  const ProductProblem& problem = product.problem;
  const auto m = static_cast<std::int64_t>(problem.m()), n = static_cast<std::int64_t>(problem.n());
  const auto k = static_cast<std::int64_t>(problem.k());
  const MatrixLayout& d = problem.layouts[matrix_d];
  // op(a) [m, k] by columns, op(b) [k, n] by columns.
  const std::vector<Sum> a = dense<Sum>(problem.layouts[matrix_a], product.data[matrix_a],
                                        problem.description.transpose_a == CUBLAS_OP_T);
  const std::vector<Sum> b = dense<Sum>(problem.layouts[matrix_b], product.data[matrix_b],
                                        problem.description.transpose_b == CUBLAS_OP_T);
  std::vector<Sum> sums(static_cast<std::size_t>(m)), part(sums.size());
  for (std::int64_t column = 0; column < n; ++column) {
    std::fill(sums.begin(), sums.end(), Sum(0));
    for (std::int64_t p = 0; p < product.split_k; ++p) {
      const std::int64_t begin = p * k / product.split_k, end = (p + 1) * k / product.split_k;
      std::fill(part.begin(), part.end(), Sum(0));
      add_column(problem.layouts[matrix_a].type, part.data(), a.data() + begin * m,
                 b.data() + column * k + begin, m, end - begin);
      std::ranges::transform(sums, part, sums.begin(), std::plus{});
    }
    for (std::int64_t row = 0; row < m; ++row) {
      const std::int64_t offset = column * d.stride + row;
      store(const_cast<void*>(product.data[matrix_d]), d.type, offset,
            finish(product, sums[static_cast<std::size_t>(row)], row, offset));
    }
  }
}

/// Ends the program unless the range lies in one block of the GPU: one that runs over into the next
/// block is an error, too.
void require_device_memory(const char* what, const void* address, std::uint64_t bytes) {
  if (!inside_one_block(address, bytes)) {
    fail(std::string("cublasLtMatmul: ") + what + " is not memory of a GPU that is in use");
  }
}

}  // namespace

void QueuedProduct::run() const {
  constexpr const char* kNames[] = {"matrix A", "matrix B", "matrix C", "matrix D"};
  for (int i = 0; i < 4; ++i) {
    const MatrixLayout& layout = problem.layouts[i];
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
    multiply<double>(*this);
  } else {
    multiply<float>(*this);
  }
}

double scalar_of(const void* value, cudaDataType_t type) {
  return load<double>(value, type, 0);
}

}  // namespace mpitron::emulator
