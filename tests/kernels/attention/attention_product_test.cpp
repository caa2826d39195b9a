#include "kernels/host/attention/attention_product.h"

#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::host::attention {
namespace attention_product_test {

Vec vec(const Lanes& x) {
  return load(x.data());
}

TEST(AttentionProduct, RoundingOfExtents) {
  for (Index x = 0; x < 200; ++x) {
    for (const Index to : {1, 6, 16, 64}) {
      EXPECT_EQ(round_up(x, to) % to, 0);
      EXPECT_EQ(round_down(x, to) % to, 0);
      EXPECT_TRUE(x <= round_up(x, to) && round_up(x, to) < x + to) << x << " " << to;
      EXPECT_TRUE(x - to < round_down(x, to) && round_down(x, to) <= x) << x << " " << to;
    }
  }
}

TEST(AttentionProduct, GroupsAreBetweenOneAndFour) {
  for (const Index groups : {-1, 0, 1, 2, 3, 4, 5, 100}) {
    int got = 0;
    with_groups(groups, [&](auto n) { got = n; });
    EXPECT_EQ(got, std::clamp<Index>(groups, 1, 4));
  }
}

/// The parts of a word that are multiplied.
template <class T>
double word_product(float a, float b) {
  if constexpr (kPack<T> == 1) {
    return double{a} * double{b};
  } else {
    const auto x = std::bit_cast<std::array<BFloat16, 2>>(a);
    const auto y = std::bit_cast<std::array<BFloat16, 2>>(b);
    return double{static_cast<float>(x[0])} * double{static_cast<float>(y[0])} +
           double{static_cast<float>(x[1])} * double{static_cast<float>(y[1])};
  }
}

template <class T>
float word_of(double first, double second) {
  if constexpr (kPack<T> == 1) {
    return static_cast<float>(first);
  } else {
    return std::bit_cast<float>(
        std::array{BFloat16(static_cast<float>(first)), BFloat16(static_cast<float>(second))});
  }
}

/// A block with A's rows, or its steps, lying together; starting from c = row + column.
template <class T, int N>
void check_block(Index steps, bool rows_together) {
  const auto words = test::test_values(2 * kRows * steps, 1);
  const auto panel = test::test_values(2 * kCols * steps, 2);
  std::vector<float> a;
  std::vector<Lanes> b(static_cast<std::size_t>(4 * std::max<Index>(steps, 1)));
  for (std::size_t i = 0; i < words.size(); i += 2) {
    a.push_back(word_of<T>(words[i], words[i + 1]));
  }
  for (std::size_t i = 0; i < panel.size(); i += 2) {
    b[i / 32][static_cast<int>(i / 2 % 16)] = word_of<T>(panel[i], panel[i + 1]);
  }
  const RowOperand rows{a.data(), rows_together ? steps : 1, rows_together ? 1 : kRows};
  Block<N> c;
  for_block<N>([&](int m, int n) { c[m][n] = broadcast(static_cast<float>(m + n)); });
  accumulate<T, N>(c, rows, b[0].data(), steps);
  for (int m = 0; m < kRows; ++m) {
    for (int column = 0; column < 16 * N; ++column) {
      double want = m + column / 16;
      for (Index k = 0; k < steps; ++k) {
        want += word_product<T>(rows.words[m * rows.row_stride + k * rows.step_stride],
                                b[static_cast<std::size_t>(4 * k + column / 16)][column % 16]);
      }
      ASSERT_NEAR(lanes_of(c[m][column / 16])[column % 16], want, 1e-5) << m << ", " << column;
    }
  }
}

template <class T>
void check_blocks() {
  for (const bool rows_together : {false, true}) {
    for (const Index steps : {0, 1, 2, 33}) {
      check_block<T, 1>(steps, rows_together);
      check_block<T, 2>(steps, rows_together);
      check_block<T, 3>(steps, rows_together);
      check_block<T, 4>(steps, rows_together);
    }
  }
}

TEST(AttentionProduct, BlocksAreProducts) {
  check_blocks<float>();
  check_blocks<BFloat16>();
  check_blocks<Float16>();
}

TEST(AttentionProduct, PowersOfTwoWithinTheirContracts) {
  const auto exact = [](double x) { return std::exp2(x); };
  const auto points = lanes_between(-125, 10, 1 << 16);
  EXPECT_LT(largest_error(
                points, [](const Lanes& x) { return exp2<float>(vec(x)); }, exact),
            2e-7);
  EXPECT_LT(largest_error(
                points, [](const Lanes& x) { return exp2<Float16>(vec(x)); }, exact),
            2e-7);
  EXPECT_LT(largest_error(
                points, [](const Lanes& x) { return exp2<BFloat16>(vec(x)); }, exact),
            7.6e-5);
  EXPECT_EQ(lanes_of(exp2<float>(broadcast(-INFINITY)))[3], 0);
  EXPECT_EQ(lanes_of(exp2<BFloat16>(broadcast(-INFINITY)))[3], 0);
  EXPECT_TRUE(std::isnan(lanes_of(exp2<float>(broadcast(NAN)))[3]));
}

TEST(AttentionProduct, SumsOfSixteenRowsAreThoseOfEach) {
  Vec rows[16];
  for (unsigned i = 0; i < 16; ++i) {
    rows[i] = vec(random_lanes(i));
  }
  alignas(64) float sums[16];
  std::fill_n(sums, 16, 7.f);
  reduce_rows(rows, sums, 11);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(sums[i], i < 11 ? reduce_add(rows[i]) : 7.f) << i;
  }
}

TEST(AttentionProduct, OnlyHalvesAreRoundedBeforeAProduct) {
  const Lanes x = random_lanes(1);
  expect_same(lanes_of(round_operand<float>(vec(x))), x);
  expect_same(lanes_of(round_operand<Float16>(vec(x))),
              make_lanes([&](int i) { return static_cast<float>(Float16(x[i])); }));
}

}  // namespace attention_product_test
}  // namespace mpitron::kernels::host::attention
