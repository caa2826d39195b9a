#include <gtest/gtest.h>

#include "report/svg_plot.h"

namespace mpitron::report {
namespace plot_ticks_test {

using Values = std::vector<double>;

TEST(PlotTicks, AreRound) {
  EXPECT_EQ(linear_ticks(1.08, 5), (Values{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(linear_ticks(43000, 5), (Values{0, 10000, 20000, 30000, 40000}));
  EXPECT_EQ(linear_ticks(0, 5), (Values{0}));
  EXPECT_EQ(logarithmic_ticks(0.5, 2000), (Values{1, 10, 100, 1000}));
  EXPECT_EQ(logarithmic_ticks(10, 10), (Values{10}));
  EXPECT_EQ(logarithmic_ticks(3, 60), (Values{5, 10, 20, 50}));
}

TEST(PlotTicks, ManyPointsAreMarkedAtRoundValues) {
  Plot plot;
  plot.logarithmic_x = true;
  EXPECT_EQ(x_marks(plot, {1, 3, 8}), (Values{1, 3, 8}));
  std::set<double> many;
  for (int i = 1; i <= 200; ++i) {
    many.insert(i);
  }
  EXPECT_EQ(x_marks(plot, many), (Values{1, 10, 100}));
}

TEST(PlotTicks, NumbersHaveThreeDigits) {
  EXPECT_EQ(short_number(12000), "12k");
  EXPECT_EQ(short_number(3.4e6), "3.4M");
  EXPECT_EQ(short_number(0.25), "0.25");
}

}  // namespace plot_ticks_test
}  // namespace mpitron::report
