#include "images/drawing/figures.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace figures_test {

/// Pixels that are not black.
Index painted(const Image& image) {
  Index count = 0;
  for (std::size_t i = 0; i < image.pixels.size(); i += kChannels) {
    count += image.pixels[i] != 0 ? 1 : 0;
  }
  return count;
}

TEST(Figures, CoverTheirAreas) {
  const auto area = [](Figure::Shape shape) {
    Image image = filled({100, 100}, {0, 0, 0});
    paint(image, {.shape = shape, .colour = {9, 8, 7}, .x = 50, .y = 50, .radius = 40});
    return static_cast<double>(painted(image)) / 1600;
  };
  EXPECT_NEAR(area(Figure::Shape::circle), 3.1416, 0.01);
  EXPECT_NEAR(area(Figure::Shape::ring), 3.1416 * 0.7, 0.01);
  EXPECT_NEAR(area(Figure::Shape::square), 4 * 0.85 * 0.85, 0.02);
  EXPECT_NEAR(area(Figure::Shape::diamond), 2, 0.06);
  EXPECT_NEAR(area(Figure::Shape::cross), 4 * (0.6 - 0.09), 0.02);
  EXPECT_NEAR(area(Figure::Shape::triangle), 1.8 * 1.8 * 0.55, 0.02);
}

TEST(Figures, EndWithTheImage) {
  Image image = filled({10, 10}, {0, 0, 0});
  paint(image, {.shape = Figure::Shape::square, .colour = {1, 1, 1}, .x = 0, .y = 10, .radius = 4});
  EXPECT_EQ(painted(image), 9);
}

TEST(Figures, WordsHaveTheirPoints) {
  Image image = filled({24, 16}, {0, 0, 0});
  paint_word(image, "il", {0, 0, 11, 16}, {1, 2, 3});
  EXPECT_EQ(painted(image), 11 + 11);
  Image large = filled({24, 16}, {0, 0, 0});
  paint_word(large, "il", {0, 0, 22, 16}, {1, 2, 3});
  EXPECT_EQ(painted(large), 4 * 22);
  EXPECT_EQ(image.row(1)[2 * kChannels + 2], 3);
}

}  // namespace figures_test
}  // namespace mpitron::images
