#include "tests/emulator/lt_product.h"

namespace mpitron::emulator {
namespace cublas_lt_product_test {

/// [1 3 5; 2 4 6] [1 1; 0 1; 0 1] = [1 9; 2 12]
TEST(CublasLtProduct, MultipliesByColumnsAndAddsWhatIsThere) {
  Product product;
  ASSERT_EQ(product.plan(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.result(), (std::vector<float>{1, 2, 9, 12}));
  product.beta = 1;
  ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.result(), (std::vector<float>{2, 4, 18, 24}));
}

TEST(CublasLtProduct, ABiasBelongsToTheRowsOfD) {
  Product product;
  product.epilogue = CUBLASLT_EPILOGUE_BIAS;
  product.bias = on_gpu<float>({100, 200});
  ASSERT_EQ(product.plan(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(product.result(), (std::vector<float>{101, 202, 109, 212}));
  product.bias = on_gpu<float>({100, 200}, 4);
  EXPECT_EQ(product.run(), CUBLAS_STATUS_INVALID_VALUE) << "not aligned to 16 bytes";
}

TEST(CublasLtProduct, MultipliesNumbersOfEightBitsByTheirScales) {
  Fp8Product product;
  ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
  std::vector<float> d(256);
  cudaMemcpy(d.data(), product.d, 256 * sizeof(float), cudaMemcpyDeviceToHost);
  std::vector<float> expected(256, 0);
  std::fill_n(expected.begin(), 16, 16.f);  // 16 * 2 * 0.5
  EXPECT_EQ(d, expected);
}

TEST(CublasLtProduct, MultipliesAnyNumberOfColumnsOfEightBits) {
  Fp8Product product;
  product.n = 3;
  EXPECT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
}

}  // namespace cublas_lt_product_test
}  // namespace mpitron::emulator
