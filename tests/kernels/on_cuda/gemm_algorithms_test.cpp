// Products by each of the algorithms that cuBLASLt names: on the emulated GPU those of the emulator
// (emulator/cublas/cublas_lt_algorithm.cpp), on a GPU the library's.
#include "device/device.h"
#include "kernels/linear/gemm_choice.h"
#include "kernels/linear/matmul.h"
#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace gemm_algorithms_test {

/// c [48, 64] of k = 40, fp32 of bf16 numbers.
class GemmAlgorithmsTest : public ::testing::Test {
 protected:
  void SetUp() override { met_gemms().begin(); }
  void TearDown() override {
    met_gemms().end();
    choose_gemm_algorithms({});
  }

  Matmul product(Side side) {
    Matmul kernel;
    kernel.a = a_(side);
    kernel.b = b_(side);
    kernel.c = c_(side);
    return kernel;
  }
  /// The bits of the product, compared with the reference.
  std::vector<double> checked() {
    bench_.check([this](Side side) { return product(side); }, kSumErrors * 2e-6);
    return c_.sides[tested_side].values();
  }
  /// The shape that launches have met, if it is one.
  static GemmShape met() {
    const std::set<GemmShape> shapes = met_gemms().end();
    EXPECT_EQ(shapes.size(), 1u);
    return shapes.empty() ? GemmShape{} : *shapes.begin();
  }
  static bool emulated() { return device::visible_gpus().gpus.at(0).name == "emulated GPU"; }
  static device::CudaStream& stream() { return TestMemoryOnGpu::instance().stream(); }

  Workbench bench_;
  Twin& a_ = bench_.input(DType::bf16, {48, 40});
  Twin& b_ = bench_.input(DType::bf16, {40, 64});
  Twin& c_ = bench_.output(DType::f32, {48, 64});
};

TEST_F(GemmAlgorithmsTest, EachComputesTheProductWithBitsOfItsOwn) {
  const std::vector<double> first = checked();
  const GemmShape shape = met();
  EXPECT_EQ(shape.m, 48);
  EXPECT_EQ(shape.n, 64);
  EXPECT_EQ(shape.k, 40);
  const std::vector<GemmAlgorithm> algorithms = candidates(stream(), shape);
  ASSERT_GE(algorithms.size(), 1u);
  for (const GemmAlgorithm& algorithm : algorithms) {
    SCOPED_TRACE(algorithm.id);
    choose_gemm_algorithms({{shape, algorithm}});
    const std::vector<double> bits = checked();
    EXPECT_EQ(checked(), bits);
    if (emulated()) {  // a library's own may have the bits of others
      EXPECT_EQ(bits == first, algorithm.split_k == 1) << "k in " << algorithm.split_k << " parts";
    }
  }
  choose_gemm_algorithms({{shape, std::nullopt}});
  EXPECT_EQ(checked(), first) << "the library's own choice";
}

TEST_F(GemmAlgorithmsTest, OneThatDoesNotFitIsPassedOver) {
  const std::vector<double> first = checked();
  const GemmShape shape = met();
  const GemmAlgorithm good = candidates(stream(), shape).at(0);
  for (const auto& [member, value] :
       {std::pair(&GemmAlgorithm::id, 12345), std::pair(&GemmAlgorithm::tile, 12345),
        std::pair(&GemmAlgorithm::reduction, 1)}) {  // 1: parts are added in c
    GemmAlgorithm bad = good;
    bad.*member = value;
    choose_gemm_algorithms({{shape, bad}});
    EXPECT_EQ(checked(), first);
  }
}

TEST_F(GemmAlgorithmsTest, OnlyWhatHasNoChoiceAndWillComeAgainIsNoted) {
  checked();
  const GemmShape shape = met();
  met_gemms().begin();
  checked();
  EXPECT_TRUE(met_gemms().end().empty()) << "it is planned already";
  choose_gemm_algorithms({{shape, std::nullopt}});
  met_gemms().begin();
  checked();
  EXPECT_TRUE(met_gemms().end().empty()) << "it has a choice";
  choose_gemm_algorithms({});
  met_gemms().begin();
  const PassingSizes rows_of_an_expert;
  checked();
  EXPECT_TRUE(met_gemms().end().empty()) << "it will not come again";
}

}  // namespace gemm_algorithms_test
}  // namespace mpitron::kernels
