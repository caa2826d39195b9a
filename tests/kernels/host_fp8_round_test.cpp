#include "kernels/fp8_round.h"
#include "tests/kernels/host_check.h"

namespace mpitron::kernels {
namespace {

class HostFp8Round : public ::testing::TestWithParam<DType> {};

struct Blocks {
  Index rows, columns;
};
// The whole tensor; 1 x 128 and its transpose; 128 x 128; 32 along rows.
constexpr Blocks kBlocks[] = {{0, 0}, {1, 128}, {128, 1}, {128, 128}, {32, 1}};

TEST_P(HostFp8Round, EveryBlockAndFormat) {
  for (const Shape& shape : {Shape{1, 1}, Shape{3, 130}, Shape{200, 257}, Shape{129, 64}}) {
    for (const Blocks& blocks : kBlocks) {
      for (const Fp8Format format : {Fp8Format::e4m3, Fp8Format::e5m2}) {
        for (const Layout layout : kLayouts) {
          Workbench bench(layout);
          Twin &x = bench.input(GetParam(), shape, 3e-3), &y = bench.output(GetParam(), shape);
          bench.check(
              [&](Side side) {
                return Fp8Round{x(side), y(side), {}, blocks.rows, blocks.columns, format, 1};
              },
              0);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HostFp8Round, ::testing::ValuesIn(kTrainingTypes),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace mpitron::kernels
