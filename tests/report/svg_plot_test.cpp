#include "report/svg_plot.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::report {
namespace svg_plot_test {

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
