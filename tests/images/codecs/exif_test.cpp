#include <gtest/gtest.h>

#include "images/codecs/formats.h"

namespace mpitron::images {
namespace exif_test {

TEST(Exif, ExifTellsHowACameraWasHeld) {
  const auto orientation = [](const std::string& marker) {
    return exif_orientation(std::as_bytes(std::span(marker)));
  };
  const std::string little("Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 28);
  EXPECT_EQ(orientation(little), 6);
  EXPECT_EQ(orientation(little.substr(0, 20)), 1);
  EXPECT_EQ(orientation("http://ns.adobe.com/xap/1.0/"), 1);
}

}  // namespace exif_test
}  // namespace mpitron::images
