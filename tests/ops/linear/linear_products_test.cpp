#include "ops/linear/linear_products.h"

#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace overlapped_products_test {

using Numbers = std::vector<double>;

/// y = 2 x, and how many rows each call had.
struct Doubling {
  std::vector<Index>* calls;
  void operator()(const Tensor& x, const Tensor& y) const {
    calls->push_back(x.shape()[0]);
    Numbers values = test::values_of(x);
    for (double& value : values) {
      value *= 2;
    }
    test::set_values(y, values);
  }
};

TEST(OverlappedProducts, GatheredRowsAreMultipliedRankByRank) {
  on_ranks(3, [](TestRank& rank) {
    const double r = static_cast<double>(rank.rank());
    std::vector<Index> calls;
    const GatheredProduct product =
        gather_and_multiply(rank.context, rank.tensor({2, 1, 1}, {r, r + 0.5}), 1,
                            {&rank.group, true, true}, Doubling{&calls});
    EXPECT_EQ(product.x.shape(), (Shape{6, 1, 1}));
    EXPECT_EQ(test::values_of(product.x), (Numbers{0, 0.5, 1, 1.5, 2, 2.5}));
    EXPECT_EQ(test::values_of(product.y), (Numbers{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(calls, (std::vector<Index>{2, 2, 2}));
  });
}

/// Eight rows for two ranks: four pieces of one row for each; five rows each are no four pieces.
TEST(OverlappedProducts, SumsOfPiecesAreTheSumsOfTheWhole) {
  for (const Index rows : {4, 5}) {
    on_ranks(2, [rows](TestRank& rank) {
      const Numbers mine = test::test_values(2 * rows, static_cast<unsigned>(rank.rank()));
      const Numbers other = test::test_values(2 * rows, static_cast<unsigned>(1 - rank.rank()));
      std::vector<Index> calls;
      const Tensor y = multiply_and_scatter(rank.context, rank.tensor({2 * rows, 1, 1}, mine), 1,
                                            {&rank.group, true, true}, Doubling{&calls});
      EXPECT_EQ(y.shape(), (Shape{rows, 1, 1}));
      EXPECT_EQ(calls.size(), rows == 4 ? 8u : 2u);
      for (Index i = 0; i < rows; ++i) {
        const auto at = static_cast<std::size_t>(rank.rank() * rows + i);
        EXPECT_NEAR(test::values_of(y)[static_cast<std::size_t>(i)], 2 * (mine[at] + other[at]),
                    1e-12);
      }
    });
  }
}

}  // namespace overlapped_products_test
}  // namespace mpitron::ops
