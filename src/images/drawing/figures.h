#pragma once
#include <array>
#include <string_view>

#include "images/image.h"

namespace mpitron::images {

using Colour = std::array<std::uint8_t, kChannels>;

/// A shape about a point, in pixels.
struct Figure {
  enum class Shape { circle, square, triangle, cross, ring, diamond };
  Shape shape = Shape::circle;
  Colour colour = {};
  double x = 0, y = 0, radius = 1;
};

/// Returns an image of one colour.
Image filled(const Size& size, const Colour& colour);

/// Paints the pixels whose middle lies in the figure; what lies outside the image is left out.
void paint(Image& image, const Figure& figure);

/// Paints letters a to z as capitals of 5 x 7 points, 6 points apart, from the top left of `place`
/// on; a point is as many pixels wide as fit the place, at least one. Other characters are
/// blanks.
void paint_word(Image& image, std::string_view word, const Box& place, const Colour& colour);

/// Returns the width in points of a word.
Index word_width(std::string_view word);
inline constexpr Index kLetterHeight = 7;

}  // namespace mpitron::images
