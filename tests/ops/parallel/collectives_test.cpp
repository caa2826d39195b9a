#include "ops/parallel/collectives.h"

#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace collectives_test {

using Numbers = std::vector<double>;

/// Three dimensions: the first and the last are cut, what lies between stays together.
TEST(Exchange, FirstAndLastOfThreeDimensions) {
  on_ranks(2, [](TestRank& rank) {
    const double r = 100.0 * static_cast<double>(rank.rank());
    const Tensor x = rank.tensor({2, 1, 2}, {r, r + 1, r + 2, r + 3});
    const auto values = [](const Tensor& y, const Shape& shape) {
      EXPECT_EQ(y.shape(), shape);
      return test::values_of(y);
    };
    EXPECT_EQ(values(join_first(rank.context, x, rank.group), {4, 1, 2}),
              (Numbers{0, 1, 2, 3, 100, 101, 102, 103}));
    EXPECT_EQ(values(join_last(rank.context, x, rank.group), {2, 1, 4}),
              (Numbers{0, 1, 100, 101, 2, 3, 102, 103}));
    const double place = static_cast<double>(rank.rank());
    EXPECT_EQ(values(piece_of_first(rank.context, x, rank.group), {1, 1, 2}),
              (Numbers{r + 2 * place, r + 2 * place + 1}));
    EXPECT_EQ(values(piece_of_last(rank.context, x, rank.group), {2, 1, 1}),
              (Numbers{r + place, r + place + 2}));
    EXPECT_EQ(values(sum_piece_of_first(rank.context, x, rank.group), {1, 1, 2}),
              (Numbers{100 + 4 * place, 102 + 4 * place}));
    EXPECT_EQ(values(sum_over(rank.context, x, rank.group), {2, 1, 2}),
              (Numbers{100, 102, 104, 106}));
  });
}

TEST(Exchange, UnevenPiecesAreRefused) {
  EXPECT_EQ(piece_shape({6, 2}, 0, 3), (Shape{2, 2}));
  EXPECT_EQ(joined_shape({6, 2}, -1, 3), (Shape{6, 6}));
  EXPECT_THROW(piece_shape({6, 2}, 0, 4), InternalError);
}

}  // namespace collectives_test
}  // namespace mpitron::ops
