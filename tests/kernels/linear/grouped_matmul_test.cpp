#include "kernels/linear/grouped_matmul.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace grouped_matmul_test {

/// Groups of one test, with their sizes.
struct Case {
  std::vector<Index> counts;
  Index inner, outer;
};
// The last one's rows are aligned to 16 bytes, with pieces of tiles of 128 in every dimension.
const Case kCases[] = {{{3, 0, 1, 17}, 5, 7},
                       {{0, 0, 2}, 33, 65},
                       {{600, 1, 40}, 33, 17},
                       {{30, 513}, 9, 1030},
                       {{130, 0, 7, 200}, 200, 136}};

Index rows_of(const Case& c) {
  return std::accumulate(c.counts.begin(), c.counts.end(), Index{0});
}

template <class View>
std::vector<View> views(std::deque<Twin*>& twins, Side side) {
  std::vector<View> result;
  for (Twin* twin : twins) {
    result.push_back((*twin)(side));
  }
  return result;
}

class GroupedMatmulTest : public ::testing::TestWithParam<DType> {};

TEST_P(GroupedMatmulTest, Products) {
  for (const Case& c : kCases) {
    for (const bool transposed : {false, true}) {
      for (const Layout layout : kLayouts) {
        Workbench bench(layout);
        Twin& a = bench.input(GetParam(), {rows_of(c), c.inner});
        std::deque<Twin*> matrices;
        for (std::size_t i = 0; i < c.counts.size(); ++i) {
          const Shape shape = transposed ? Shape{c.outer, c.inner} : Shape{c.inner, c.outer};
          matrices.push_back(&bench.input(GetParam(), shape));
        }
        Twin& y = bench.output(GetParam(), {rows_of(c), c.outer});
        std::vector<In> b[2];
        bench.check(
            [&](Side side) {
              b[side] = views<In>(matrices, side);
              return GroupedMatmul{a(side), b[side], y(side), c.counts, {}, transposed};
            },
            kSumErrors * 2e-6);
      }
    }
  }
}

TEST_P(GroupedMatmulTest, WeightGradients) {
  for (const Case& c : kCases) {
    for (const DType gradient_type : {GetParam(), DType::f32}) {
      for (const bool accumulate : {false, true}) {
        Workbench bench;
        Twin &a = bench.input(GetParam(), {rows_of(c), c.outer}),
             &b = bench.input(GetParam(), {rows_of(c), c.inner});
        std::deque<Twin*> gradients;
        for (std::size_t i = 0; i < c.counts.size(); ++i) {
          gradients.push_back(&bench.inout(gradient_type, {c.outer, c.inner}));
        }
        std::vector<GroupGradient> to[2];
        bench.check(
            [&](Side side) {
              for (const device::TensorView& view : views<device::TensorView>(gradients, side)) {
                to[side].push_back({view, accumulate});
              }
              return GroupedWeightGradient{a(side), b(side), to[side], c.counts, {}};
            },
            kSumErrors * 3e-6);
      }
    }
  }
}

TEST_P(GroupedMatmulTest, AGroupsBitsAreItsOwn) {
  const Index k = 70, n = 90;
  TestTensor a(GetParam(), {700, k}, test_values(700 * k, 1)),
      first(GetParam(), {n, k}, test_values(n * k, 2)),
      second(GetParam(), {n, k}, test_values(n * k, 3));
  const auto product = [&](Index begin, const std::vector<In>& b,
                           const std::vector<Index>& counts) {
    const Index rows = std::accumulate(counts.begin(), counts.end(), Index{0});
    TestTensor c(GetParam(), {rows, n});
    GroupedMatmul kernel{
        device::slice(a.view(), 0, begin, begin + rows), b, c.view(), counts, {}, true};
    run_on_device(kernel);
    return c.bytes();
  };
  std::vector<std::byte> both = product(0, {first.view(), second.view()}, {123, 577});
  std::vector<std::byte> apart = product(0, {first.view()}, {123});
  const std::vector<std::byte> rest = product(123, {second.view()}, {577});
  apart.insert(apart.end(), rest.begin(), rest.end());
  EXPECT_EQ(both, apart);
}

INSTANTIATE_TEST_SUITE_P(Types, GroupedMatmulTest, ::testing::ValuesIn(kTrainingTypes),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace grouped_matmul_test
}  // namespace mpitron::kernels
