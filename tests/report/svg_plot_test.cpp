#include "report/svg_plot.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::report {
namespace svg_plot_test {

using Values = std::vector<double>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Ticks, AreRound) {
  EXPECT_EQ(linear_ticks(1.08, 5), (Values{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(linear_ticks(43000, 5), (Values{0, 10000, 20000, 30000, 40000}));
  EXPECT_EQ(linear_ticks(0, 5), (Values{0}));
  EXPECT_EQ(logarithmic_ticks(0.5, 2000), (Values{1, 10, 100, 1000}));
  EXPECT_EQ(logarithmic_ticks(10, 10), (Values{10}));
  EXPECT_EQ(logarithmic_ticks(3, 60), (Values{5, 10, 20, 50}));
}

TEST(SvgPlot, DrawsLinesAndDots) {
  const std::string svg =
      svg_plot({.title = "speed <1>",
                .x_label = "ranks",
                .lines = {{.name = "measured", .points = {{1, 10}, {2, 20}}},
                          {.name = "predicted", .points = {{1, 10}, {2, 40}}, .dashed = true}}});
  EXPECT_TRUE(has(svg, "aria-label=\"speed &lt;1&gt;\"")) << svg;
  EXPECT_EQ(count(svg, "<circle"), 2) << "of the measured line only";
  EXPECT_EQ(count(svg, "<path"), 2);
  EXPECT_TRUE(has(svg, "measured: 20 at 2")) << svg;
  EXPECT_TRUE(has(svg, ">predicted</text>")) << svg;
  EXPECT_FALSE(has(svg, "nan")) << svg;
}

TEST(SvgPlot, LeavesOutWhatIsMissing) {
  const Plot gap{.title = "t", .lines = {{.name = "a", .points = {{1, NAN}, {2, 3}, {4, 5}}}}};
  EXPECT_EQ(count(svg_plot(gap), "<circle"), 2);
  const Plot empty{.title = "t", .lines = {{.name = "a", .points = {{1, NAN}}}}};
  EXPECT_TRUE(has(svg_plot(empty), "nothing was measured"));
  const Plot zero{.title = "t",
                  .lines = {{.name = "a", .points = {{1, 0}, {8, 2}}}},
                  .logarithmic_x = true,
                  .logarithmic_y = true};
  EXPECT_EQ(count(svg_plot(zero), "<circle"), 1);
  EXPECT_FALSE(has(svg_plot(zero), "nan"));
}

}  // namespace svg_plot_test
}  // namespace mpitron::report
