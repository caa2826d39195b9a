#include "tests/emulator/lt_product.h"

namespace mpitron::emulator {
namespace cublas_lt_algorithm_test {

TEST(CublasLtAlgorithm, AnAlgorithmIsForItsProblemItsAlignmentAndItsWorkspace) {
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

/// 2^24 + 1 + 1 loses both ones; in two parts, of one number and of two, it loses none.
TEST(CublasLtAlgorithm, AlgorithmsDifferInTheOrderOfTheirSums) {
  Product product;
  product.a = on_gpu<float>({0x1p24f, 1, 1, 1, 1, 1});
  product.b = on_gpu<float>({1, 1, 1, 1, 1, 1});
  std::vector<float> corner;
  for (const std::size_t answer : {0, 1}) {
    ASSERT_EQ(product.plan(answer), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
    corner.push_back(product.result()[0]);
    product.d = on_gpu<float>({10, 20, 30, 40});
    ASSERT_EQ(product.make_again(), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(product.run(), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(product.result()[0], corner.back()) << "made again from its numbers";
  }
  EXPECT_EQ(corner, (std::vector<float>{0x1p24f, 0x1p24f + 2}));
}

TEST(CublasLtAlgorithm, AnAlgorithmIsAllOfItsSettings) {
  for (const int left_out :
       {CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_ALGO_CONFIG_SPLITK_NUM,
        CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID}) {
    Product product;
    ASSERT_EQ(product.plan(1), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(product.make_again(left_out), CUBLAS_STATUS_NOT_SUPPORTED) << left_out;
  }
}

TEST(CublasLtAlgorithmDeathTest, PartsMayNotBeAddedInTheTypeOfTheResult) {
  Product product;
  product.k = 4;
  product.a = on_gpu<float>({1, 2, 3, 4, 5, 6, 7, 8});
  product.b = on_gpu<float>({1, 2, 3, 4, 5, 6, 7, 8});
  product.reduction = CUBLASLT_REDUCTION_SCHEME_MASK;
  ASSERT_EQ(product.plan(), CUBLAS_STATUS_SUCCESS);
  EXPECT_DEATH(product.run(), "in the type of the result");
}

}  // namespace cublas_lt_algorithm_test
}  // namespace mpitron::emulator
