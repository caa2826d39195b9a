#include <gtest/gtest.h>

#include "images/codecs/formats.h"
#include "utils/error.h"

namespace mpitron::images {
namespace bitmap_test {

/// A header, a palette of two colours where there are 8 bits, and rows that follow.
std::string bitmap(int width, int height, int bits, const std::string& rows) {
  const std::string palette = bits == 8 ? std::string("\x01\x02\x03\0\x0a\x0b\x0c\0", 8) : "";
  std::string file = "BM";
  const auto number = [&](long value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      file.push_back(static_cast<char>(value >> (8 * i)));
    }
  };
  number(0, 8);
  number(54 + static_cast<long>(palette.size()), 4);
  number(40, 4);
  number(width, 4);
  number(height, 4);
  number(1, 2);
  number(bits, 2);
  number(0, 16);
  number(bits == 8 ? 2 : 0, 4);
  number(0, 4);
  return file + palette + rows;
}

Image decoded(const std::string& file) {
  return decode(std::as_bytes(std::span(file)), "x.bmp");
}

TEST(Bitmap, RowsComeFromBelowAndColoursBackwards) {
  const std::string rows("\x01\x02\x03\x04\x05\x06\0\0\x07\x08\x09\x0a\x0b\x0c\0\0", 16);
  const Image image = decoded(bitmap(2, 2, 24, rows));
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(decoded(bitmap(2, -2, 24, rows)).pixels,
            (std::vector<std::uint8_t>{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10}));
}

TEST(Bitmap, APaletteIsLookedUp) {
  const Image image = decoded(bitmap(2, 1, 8, std::string("\x01\0\0\0", 4)));
  EXPECT_EQ(image.pixels, (std::vector<std::uint8_t>{12, 11, 10, 3, 2, 1}));
  EXPECT_TRUE(image.has_palette);
  EXPECT_EQ(decoded(bitmap(1, 1, 8, std::string("\x7f\0\0\0", 4))).pixels[0], 12);
}

TEST(Bitmap, OtherFormsAreRefused) {
  EXPECT_THROW(decoded(bitmap(2, 2, 24, "abc")), Error);
  EXPECT_THROW(decoded(bitmap(2, 2, 16, std::string(8, 'a'))), Error);
  EXPECT_THROW(decoded(bitmap(0, 2, 24, "")), Error);
  EXPECT_THROW(decoded("BM"), Error);
}

}  // namespace bitmap_test
}  // namespace mpitron::images
