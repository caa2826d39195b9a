#include "kernels/state_space/gated_norm.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace gated_norm_test {

constexpr double kTolerance = 5e-6;
constexpr double kSumTolerance = 2e-5;

/// Rows of one to three groups of odd widths, with the gate in front and behind.
template <class F>
void for_cases(F&& f) {
  for (const DType type : kTrainingTypes) {
    for (const Index width : {2, 17, 64}) {
      for (const Index groups : {1, 3}) {
        for (const bool gate_first : {true, false}) {
          SCOPED_TRACE(::testing::Message() << name_of(type) << " " << groups << " x " << width
                                            << (gate_first ? " gate first" : ""));
          f(type, width * groups, groups, gate_first);
        }
      }
    }
  }
}

TEST(GatedNorm, ForwardAsTheReference) {
  for_cases([](DType type, Index f, Index groups, bool gate_first) {
    Workbench bench({1, 3});
    Twin &x = bench.input(type, {37, f}, 2), &z = bench.input(type, {37, f}, 2);
    Twin &weight = bench.input(type, {f}), &y = bench.output(type, {37, f});
    TestTensor rstd[] = {TestTensor(DType::f32, {37, groups}),
                         TestTensor(DType::f32, {37, groups})};
    bench.check(
        [&](Side side) {
          return GatedNormForward{x(side),           z(side), weight(side), y(side),
                                  rstd[side].view(), groups,  1e-5f,        gate_first};
        },
        kTolerance);
    EXPECT_NEAR(rstd[0].values()[5], rstd[1].values()[5], 2e-5 * rstd[0].values()[5]);
  });
}

TEST(GatedNorm, BackwardAsTheReference) {
  for_cases([](DType type, Index f, Index groups, bool gate_first) {
    Workbench bench({1, 3});
    Twin &x = bench.input(type, {37, f}, 2), &z = bench.input(type, {37, f}, 2);
    Twin &dy = bench.input(type, {37, f}), &weight = bench.input(DType::f32, {f});
    Twin &dx = bench.output(type, {37, f}), &dz = bench.output(type, {37, f});
    Twin& dweight = bench.inout(DType::f32, {f});
    TestTensor rstd(DType::f32, {37, groups}, test_values(37 * groups, 5));
    std::vector<std::byte> memory;
    bench.check(
        [&](Side side) {
          GatedNormBackward k{x(side),     z(side),  dy(side),   weight(side),
                              rstd.view(), dx(side), dz(side),   dweight(side),
                              {},          groups,   gate_first, true};
          if (side == tested_side) {
            memory.resize(static_cast<std::size_t>(workspace_bytes(device::HostStream{}, k)));
            k.workspace =
                device::TensorView(memory.data(), DType::u8, {static_cast<Index>(memory.size())});
          }
          return k;
        },
        kSumTolerance);
  });
}

/// y of the first `rows` rows of x; its first `kept` rows as bytes.
std::vector<std::byte> forward_bytes(TestTensor& x, TestTensor& weight, Index rows, Index kept) {
  const Index f = weight.view().size(0);
  constexpr Index kGroups = 4;
  TestTensor y(DType::bf16, {rows, f}), rstd(DType::f32, {rows, kGroups});
  const device::TensorView in(x.view().data, DType::bf16, {rows, f});
  device::HostStream stream;
  run(stream, GatedNormForward{in, in, weight.view(), y.view(), rstd.view(), kGroups});
  std::vector<std::byte> bytes = y.bytes();
  bytes.resize(static_cast<std::size_t>(kept * f) * size_of(DType::bf16));
  return bytes;
}

/// Large results go past the caches, by whole lines, which groups of 40 numbers do not begin with.
TEST(GatedNorm, LargeResultsOfGroupsInsideLinesAreThoseOfSmallOnes) {
  constexpr Index kRows = 14000, kWidth = 160, kFew = 64;
  TestTensor x(DType::bf16, {kRows, kWidth}, test_values(kRows * kWidth, 3));
  TestTensor weight(DType::f32, {kWidth}, test_values(kWidth, 4));
  EXPECT_EQ(forward_bytes(x, weight, kRows, kFew), forward_bytes(x, weight, kFew, kFew));
}

}  // namespace gated_norm_test
}  // namespace mpitron::kernels
