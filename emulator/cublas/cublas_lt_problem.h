#pragma once
#include <cstdint>

#include <cublasLt.h>

// Describes a product to the emulated libcublasLt (cublas_lt.cpp); as in the library, matrices lie
// by columns.
namespace mpitron::emulator {

struct ProductDescription {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  const void *a_scale = nullptr, *b_scale = nullptr;  // of numbers of 8 bits; null: 1
};

struct MatrixLayout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t stride;  // between columns, in elements
};

enum Matrix { matrix_a, matrix_b, matrix_c, matrix_d };

/// A product and its four matrices; m, n and k are those of d, after the transposes.
struct ProductProblem {
  ProductDescription description;
  MatrixLayout layouts[4];

  std::uint64_t m() const { return layouts[matrix_d].rows; }
  std::uint64_t n() const { return layouts[matrix_d].columns; }
  std::uint64_t k() const {
    const MatrixLayout& a = layouts[matrix_a];
    return description.transpose_a == CUBLAS_OP_N ? a.columns : a.rows;
  }
  bool has_bias() const { return description.epilogue == CUBLASLT_EPILOGUE_BIAS; }
};

std::size_t size_of(cudaDataType_t type);

/// Tells whether the library solves the problem: sizes, types and epilogues that its manual does
/// not allow are refused with its status.
cublasStatus_t status_of(const ProductProblem& problem);
/// Refuses what the library refuses when it runs (13.1 on an H200): a bias whose epilogue was not
/// asked for, and a scale that is not aligned to 16 bytes.
cublasStatus_t status_of_extras(const ProductProblem& problem);
/// Tells problems apart by all but the pointers in them; not 0.
std::uint64_t fingerprint_of(const ProductProblem& problem);

}  // namespace mpitron::emulator
