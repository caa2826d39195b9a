#include "tests/emulator/lt_product.h"

namespace mpitron::emulator {
namespace cublas_lt_problem_test {

TEST(CublasLtProblem, RefusesProblemsThatTheLibraryDoesNotSolve) {
  Product product;
  product.a_type = CUDA_R_16BF;
  EXPECT_EQ(product.plan(), CUBLAS_STATUS_NOT_SUPPORTED) << "a and b of different types";
  product.a_type = CUDA_R_32F;
  product.a_stride = 1;
  EXPECT_EQ(product.plan(), CUBLAS_STATUS_INVALID_VALUE) << "columns that overlap";
}

TEST(CublasLtProblem, RefusesProductsOfEightBitsThatGpusDoNotHave) {
  Fp8Product product;
  product.k = 8;
  EXPECT_EQ(product.run(), CUBLAS_STATUS_NOT_SUPPORTED);
  product.k = 16;
  product.m = 8;
  EXPECT_EQ(product.run(), CUBLAS_STATUS_NOT_SUPPORTED);
  product.m = 16;
  product.b_type = CUDA_R_16BF;
  EXPECT_EQ(product.run(), CUBLAS_STATUS_NOT_SUPPORTED);
}

}  // namespace cublas_lt_problem_test
}  // namespace mpitron::emulator
