#include "images/drawing/figures.h"

#include <algorithm>
#include <cmath>

// Draws figures and letters pixel by pixel, for data sets of drawn images.

namespace mpitron::images {
namespace {

/// Letters as five columns each from the left, the topmost point in the lowest bit.
constexpr std::array<std::array<std::uint8_t, 5>, 26> kLetters = {{
    {0x7e, 0x11, 0x11, 0x11, 0x7e}, {0x7f, 0x49, 0x49, 0x49, 0x36}, {0x3e, 0x41, 0x41, 0x41, 0x22},
    {0x7f, 0x41, 0x41, 0x22, 0x1c}, {0x7f, 0x49, 0x49, 0x49, 0x41}, {0x7f, 0x09, 0x09, 0x09, 0x01},
    {0x3e, 0x41, 0x49, 0x49, 0x7a}, {0x7f, 0x08, 0x08, 0x08, 0x7f}, {0x00, 0x41, 0x7f, 0x41, 0x00},
    {0x20, 0x40, 0x41, 0x3f, 0x01}, {0x7f, 0x08, 0x14, 0x22, 0x41}, {0x7f, 0x40, 0x40, 0x40, 0x40},
    {0x7f, 0x02, 0x0c, 0x02, 0x7f}, {0x7f, 0x04, 0x08, 0x10, 0x7f}, {0x3e, 0x41, 0x41, 0x41, 0x3e},
    {0x7f, 0x09, 0x09, 0x09, 0x06}, {0x3e, 0x41, 0x51, 0x21, 0x5e}, {0x7f, 0x09, 0x19, 0x29, 0x46},
    {0x46, 0x49, 0x49, 0x49, 0x31}, {0x01, 0x01, 0x7f, 0x01, 0x01}, {0x3f, 0x40, 0x40, 0x40, 0x3f},
    {0x1f, 0x20, 0x40, 0x20, 0x1f}, {0x3f, 0x40, 0x38, 0x40, 0x3f}, {0x63, 0x14, 0x08, 0x14, 0x63},
    {0x07, 0x08, 0x70, 0x08, 0x07}, {0x61, 0x51, 0x49, 0x45, 0x43},
}};
constexpr Index kLetterWidth = 5, kLetterStep = 6;

/// Returns whether a point lies in a shape of radius 1 about 0; y grows downwards.
bool inside(Figure::Shape shape, double x, double y) {
  const double far = std::max(std::abs(x), std::abs(y)), square = x * x + y * y;
  switch (shape) {
    case Figure::Shape::circle:
      return square <= 1;
    case Figure::Shape::ring:
      return square <= 1 && square >= 0.3;
    case Figure::Shape::square:
      return far <= 0.85;
    case Figure::Shape::diamond:
      return std::abs(x) + std::abs(y) <= 1;
    case Figure::Shape::cross:
      return far <= 1 && std::min(std::abs(x), std::abs(y)) <= 0.3;
    default:  // triangle
      return y <= 0.8 && std::abs(x) <= (y + 1) * 0.55;
  }
}

void set(Image& image, Index x, Index y, const Colour& colour) {
  if (x >= 0 && x < image.width && y >= 0 && y < image.height) {
    std::copy(colour.begin(), colour.end(), image.row(y) + x * kChannels);
  }
}

}  // namespace

Image filled(const Size& size, const Colour& colour) {
  Image image(size.width, size.height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = colour[i % kChannels];
  }
  return image;
}

void paint(Image& image, const Figure& figure) {
  const auto reach = static_cast<Index>(std::ceil(figure.radius));
  const auto x0 = static_cast<Index>(figure.x), y0 = static_cast<Index>(figure.y);
  for (Index y = y0 - reach; y <= y0 + reach; ++y) {
    for (Index x = x0 - reach; x <= x0 + reach; ++x) {
      const double dx = (static_cast<double>(x) + 0.5 - figure.x) / figure.radius;
      const double dy = (static_cast<double>(y) + 0.5 - figure.y) / figure.radius;
      if (inside(figure.shape, dx, dy)) {
        set(image, x, y, figure.colour);
      }
    }
  }
}

Index word_width(std::string_view word) {
  return static_cast<Index>(word.size()) * kLetterStep - 1;
}

void paint_word(Image& image, std::string_view word, const Box& place, const Colour& colour) {
  const Index fitting = place.width / std::max<Index>(1, word_width(word));
  const Index scale = std::max<Index>(1, std::min(fitting, place.height / kLetterHeight));
  for (Index i = 0; i < static_cast<Index>(word.size()); ++i) {
    const char letter = word[static_cast<std::size_t>(i)];
    if (letter < 'a' || letter > 'z') {
      continue;
    }
    const auto& columns = kLetters[static_cast<std::size_t>(letter - 'a')];
    for (Index point = 0; point < kLetterWidth * kLetterHeight * scale * scale; ++point) {
      const Index x = point % (kLetterWidth * scale), y = point / (kLetterWidth * scale);
      if ((columns[static_cast<std::size_t>(x / scale)] >> (y / scale) & 1) != 0) {
        set(image, place.left + i * kLetterStep * scale + x, place.top + y, colour);
      }
    }
  }
}

}  // namespace mpitron::images
