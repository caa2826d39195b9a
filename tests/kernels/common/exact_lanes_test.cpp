#include "kernels/host/common/exact_lanes.h"

#include "tests/kernels/vector_check.h"

namespace mpitron::kernels::host {
namespace exact_lanes_test {

using Storage = std::array<std::int64_t, exact_sum::kBins>;

simd::Float vec(const Lanes& x) {
  return std::bit_cast<simd::Float>(x);
}

/// Adds all of `values` in lanes, and one by one.
void expect_equal_sums(const std::vector<Lanes>& values) {
  Storage got{}, want{};
  {
    ExactLanes lanes{exact_sum::Bins(got)};
    for (const Lanes& x : values) {
      ASSERT_TRUE(lanes.add(vec(x)));
    }
  }
  for (const Lanes& x : values) {
    for (int lane = 0; lane < 16; ++lane) {
      exact_sum::add(exact_sum::Bins(want), x[lane]);
    }
  }
  exact_sum::carry(exact_sum::Bins(got));
  exact_sum::carry(exact_sum::Bins(want));
  EXPECT_EQ(got, want);
}

TEST(ExactLanes, AddWithoutRounding) {
  std::vector<Lanes> values;
  for (unsigned i = 0; i < 2000; ++i) {  // more than lanes hold without a carry
    const Lanes x = random_lanes(i);
    values.push_back(make_lanes([&](int lane) { return std::abs(x[lane]) * 0.999f; }));
  }
  expect_equal_sums(values);
}

/// The window moves, and vectors wider than the window are added all the same.
TEST(ExactLanes, OfAllMagnitudes) {
  std::vector<Lanes> values;
  for (const Lanes& x : lanes_of_all_magnitudes()) {
    const auto magnitude = [](float value) {
      return std::isinf(value) ? std::numeric_limits<float>::max() : std::abs(value);
    };
    values.push_back(make_lanes([&](int lane) { return magnitude(x[lane]); }));
    values.push_back(make_lanes([&](int) { return magnitude(x[0]); }));
  }
  expect_equal_sums(values);
  expect_equal_sums({make_lanes([](int lane) { return std::ldexp(1.f, 8 * lane - 149); })});
  expect_equal_sums({make_lanes([](int lane) { return std::ldexp(1.f, lane - 149); }),
                     make_lanes([](int) { return 0.f; })});
}

TEST(ExactLanes, RefuseWhatIsNotFinite) {
  for (const float value : {INFINITY, NAN, -1.f}) {
    Storage bins{};
    {
      ExactLanes lanes{exact_sum::Bins(bins)};
      EXPECT_FALSE(lanes.add(vec(make_lanes([&](int lane) { return lane == 3 ? value : 1.f; }))));
    }
    EXPECT_EQ(bins, Storage{});
  }
}

}  // namespace exact_lanes_test
}  // namespace mpitron::kernels::host
