#include "images/augment/views.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace views_test {

Image drawn(Index width, Index height) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(i * i / 5 + i);
  }
  return image;
}

TEST(Views, AreAFunctionOfSeedSampleEpochAndView) {
  const Image image = drawn(40, 30);
  const auto made = [&](const Draws::Place& place) {
    return classification_view(image, {16, 16}, Draws(place)).pixels;
  };
  const Draws::Place place{.seed = 5, .sample = 3, .epoch = 1, .view = 0};
  EXPECT_EQ(made(place), made(place));
  for (const Draws::Place& other :
       {Draws::Place{6, 3, 1, 0}, {5, 4, 1, 0}, {5, 3, 2, 0}, {5, 3, 1, 1}}) {
    EXPECT_NE(made(other), made(place));
  }
}

TEST(Views, HalfOfThemAreMirrored) {
  const Image image = drawn(8, 8);
  Index kept = 0;
  for (Index sample = 0; sample < 400; ++sample) {
    kept += Draws({.sample = sample}).happens(DrawNumber::flip, 0.5) ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 200, 40);
  EXPECT_EQ(mirrored(mirrored(image)).pixels, image.pixels);
}

TEST(Views, PlanesAreNormalised) {
  Image image(2, 1);
  image.pixels = {0, 255, 51, 255, 0, 102};
  std::vector<float> planes(6);
  write_planes(image, {{0, 0.5f, 0}, {1, 0.5f, 0.2f}}, planes);
  EXPECT_EQ(planes, (std::vector<float>{0, 1, 1, -1, 1, 2}));
}

TEST(Views, DinoMakesViewsOfTheirSize) {
  const Image view = dino_view(drawn(50, 40), {.size = {12, 12}, .scale = {0.05, 0.4}}, Draws({}));
  EXPECT_EQ(view.width, 12);
  EXPECT_EQ(view.pixels.size(), 12u * 12 * 3);
}

}  // namespace views_test
}  // namespace mpitron::images
