#include <vector>

#include <cublasLt.h>
#include <gtest/gtest.h>

namespace mpitron::emulator {
namespace {

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
  float beta = 0;

  Product() {
    cublasLtCreate(&library_);
    EXPECT_EQ(cudaMalloc(&workspace_, 1 << 16), cudaSuccess);
  }

  /// The heuristic's answer for the problem as it is now.
  cublasStatus_t plan() {
    describe();
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulPreferenceCreate(&preference);
    const std::uint64_t most = 1 << 16;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &most, sizeof(most));
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(library_, description_, a_layout_, b_layout_, d_layout_,
                                       d_layout_, preference, 1, &choice_, &found);
    EXPECT_EQ(found == 1, status == CUBLAS_STATUS_SUCCESS);
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

// [1 3 5; 2 4 6] [1 1; 0 1; 0 1] = [1 9; 2 12]
TEST(CublasLt, MultipliesByColumnsAndAddsWhatIsThere) {
  Product product;
  ASSERT_EQ(product.plan(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.result(), (std::vector<float>{1, 2, 9, 12}));
  product.beta = 1;
  ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.result(), (std::vector<float>{2, 4, 18, 24}));
}

TEST(CublasLt, ABiasBelongsToTheRowsOfD) {
  Product product;
  product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  product.bias = on_gpu<float>({100, 200});
  ASSERT_EQ(product.plan(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.result(), (std::vector<float>{101, 202, 109, 212}));
  product.bias = on_gpu<float>({100, 200}, 4);
  EXPECT_EQ(product.run(), CUBLAS_STATUS_INVALID_VALUE) << "not aligned to 16 bytes";
}

TEST(CublasLt, RefusesProblemsThatTheLibraryDoesNotSolve) {
  Product product;
  product.a_type = CUDA_R_16BF;
  EXPECT_EQ(product.plan(), CUBLAS_STATUS_NOT_SUPPORTED) << "a and b of different types";
  product.a_type = CUDA_R_32F;
  product.a_stride = 1;
  EXPECT_EQ(product.plan(), CUBLAS_STATUS_INVALID_VALUE) << "columns that overlap";
}

TEST(CublasLt, AnAlgorithmIsForItsProblemItsAlignmentAndItsWorkspace) {
  Product product;
  ASSERT_EQ(product.plan(), CUBLAS_STATUS_SUCCESS);
  product.workspace_bytes = 16;
  EXPECT_EQ(product.run(), CUBLAS_STATUS_INVALID_VALUE);
  product.workspace_bytes = 1 << 16;
  product.b = on_gpu<float>({1, 0, 0, 1, 1, 1}, 4);
  EXPECT_EQ(product.run(), CUBLAS_STATUS_INVALID_VALUE);
  product.b = on_gpu<float>({1, 0, 0, 1, 1, 1});
  product.k = 2;
  EXPECT_EQ(product.run(), CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
}  // namespace mpitron::emulator
