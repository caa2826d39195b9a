#pragma once
#include <algorithm>
#include <vector>

#include <cublasLt.h>
#include <gtest/gtest.h>

#include "utils/numbers/float8.h"

namespace mpitron::emulator {

/// Memory of the emulated GPU with these values, `skipped` bytes behind an aligned address.
template <class T>
T* on_gpu(const std::vector<T>& values, std::size_t skipped = 0) {
  void* memory = nullptr;
  const std::size_t bytes = values.size() * sizeof(T);
  EXPECT_EQ(cudaMalloc(&memory, bytes + skipped), cudaSuccess);
  char* const start = static_cast<char*>(memory) + skipped;
  EXPECT_EQ(cudaMemcpy(start, values.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  return reinterpret_cast<T*>(start);
}

/// d [m, n] = a [m, k] b [k, n] in fp32, all by columns; a test changes what it tests.
struct Product {
  int m = 2, n = 2, k = 3;
  std::int64_t a_stride = 2;
  cudaDataType_t a_type = CUDA_R_32F;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const float* a = on_gpu<float>({1, 2, 3, 4, 5, 6});
  const float* b = on_gpu<float>({1, 0, 0, 1, 1, 1});
  const float* bias = nullptr;
  float* d = on_gpu<float>({10, 20, 30, 40});
  std::size_t workspace_bytes = 1 << 16;
  std::uint32_t reduction = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  float beta = 0;

  Product() {
    cublasLtCreate(&library_);
    EXPECT_EQ(cudaMalloc(&workspace_, 1 << 16), cudaSuccess);
  }

  /// Plans for answer `number` of the heuristic to the problem as it is now.
  cublasStatus_t plan(std::size_t number = 0) {
    describe();
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulPreferenceCreate(&preference);
    const std::uint64_t most = 1 << 16;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &most, sizeof(most));
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                         &reduction, sizeof(reduction));
    int found = 0;
    std::vector<cublasLtMatmulHeuristicResult_t> answers(number + 1);
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library_, description_, a_layout_, b_layout_, d_layout_, d_layout_, preference,
        static_cast<int>(answers.size()), answers.data(), &found);
    EXPECT_EQ(found > 0, status == CUBLAS_STATUS_SUCCESS);
    choice_ = answers[number];
    return status;
  }
  /// Makes the planned algorithm again, from its number and its settings but `left_out`.
  cublasStatus_t make_again(int left_out = -1) {
    int id = 0;
    std::size_t written = 0;
    cublasLtMatmulAlgoConfigGetAttribute(&choice_.algo, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof(id),
                                         &written);
    cublasLtMatmulAlgo_t made{};
    cublasLtMatmulAlgoInit(library_, CUBLAS_COMPUTE_32F, CUDA_R_32F, a_type, CUDA_R_32F, CUDA_R_32F,
                           CUDA_R_32F, id, &made);
    for (int name = CUBLASLT_ALGO_CONFIG_TILE_ID; name <= CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
         ++name) {
      const auto attribute = static_cast<cublasLtMatmulAlgoConfigAttributes_t>(name);
      const std::size_t bytes = attribute >= CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ? 2 : 4;
      std::uint32_t value = 0;
      EXPECT_EQ(
          cublasLtMatmulAlgoConfigGetAttribute(&choice_.algo, attribute, &value, bytes, &written),
          CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(written, bytes);
      if (name != left_out) {
        EXPECT_EQ(cublasLtMatmulAlgoConfigSetAttribute(&made, attribute, &value, bytes),
                  CUBLAS_STATUS_SUCCESS);
      }
    }
    choice_ = {};
    const cublasStatus_t status = cublasLtMatmulAlgoCheck(
        library_, description_, a_layout_, b_layout_, d_layout_, d_layout_, &made, &choice_);
    choice_.algo = made;
    return status;
  }
  /// Runs what `plan` chose on the problem as it is now.
  cublasStatus_t run() {
    describe();
    const float alpha = 1;
    return cublasLtMatmul(library_, description_, &alpha, a, a_layout_, b, b_layout_, &beta, d,
                          d_layout_, d, d_layout_, &choice_.algo, workspace_, workspace_bytes,
                          nullptr);
  }
  std::vector<float> result() const {
    std::vector<float> values(static_cast<std::size_t>(m * n));
    cudaMemcpy(values.data(), d, values.size() * sizeof(float), cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  void describe() {
    cublasLtMatmulDescCreate(&description_, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                   sizeof(epilogue));
    cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                   sizeof(bias));
    const auto size = [](int extent) { return static_cast<std::uint64_t>(extent); };
    cublasLtMatrixLayoutCreate(&a_layout_, a_type, size(m), size(k), a_stride);
    cublasLtMatrixLayoutCreate(&b_layout_, CUDA_R_32F, size(k), size(n), k);
    cublasLtMatrixLayoutCreate(&d_layout_, CUDA_R_32F, size(m), size(n), m);
  }

  cublasLtHandle_t library_ = nullptr;
  void* workspace_ = nullptr;
  cublasLtMatmulDesc_t description_ = nullptr;
  cublasLtMatrixLayout_t a_layout_ = nullptr, b_layout_ = nullptr, d_layout_ = nullptr;
  cublasLtMatmulHeuristicResult_t choice_{};
};

/// d = a^T b of 16 x 16 numbers of 8 bits, of which `a` holds ones, and b twos in its first column.
struct Fp8Product {
  std::uint64_t m = 16, n = 16, k = 16;
  cudaDataType_t b_type = CUDA_R_8F_E5M2;
  const float* a_scale = on_gpu<float>({0.5f});
  float* d = on_gpu<float>(std::vector<float>(256, 7));

  cublasStatus_t run() {
    cublasLtHandle_t library = nullptr;
    cublasLtCreate(&library);
    cublasLtMatmulDesc_t description = nullptr;
    cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t transpose = CUBLAS_OP_T;
    cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                   sizeof(transpose));
    cublasLtMatmulDescSetAttribute(description, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &a_scale,
                                   sizeof(a_scale));
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    cublasLtMatrixLayoutCreate(&a, CUDA_R_8F_E4M3, k, m, 16);
    cublasLtMatrixLayoutCreate(&b, b_type, k, n, 16);
    cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, m, n, 16);
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulHeuristicResult_t choice{};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(library, description, a, b, c, c,
                                                                 preference, 1, &choice, &found);
    if (status != CUBLAS_STATUS_SUCCESS) {
      return status;
    }
    std::vector<std::uint8_t> twos(256, 0);
    std::fill_n(twos.begin(), 16, to_fp8(2, Fp8Format::e5m2));
    const std::vector<std::uint8_t> ones(256, to_fp8(1, Fp8Format::e4m3));
    const float alpha = 1, beta = 0;
    return cublasLtMatmul(library, description, &alpha, on_gpu(ones), a, on_gpu(twos), b, &beta, d,
                          c, d, c, &choice.algo, nullptr, 0, nullptr);
  }
};

}  // namespace mpitron::emulator
