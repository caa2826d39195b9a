#include <gtest/gtest.h>

#include "images/transforms/filled.h"
#include "images/transforms/resample.h"

namespace mpitron::images {
namespace crop_test {

TEST(Crop, AnotherPartOfAnImage) {
  Image image = filled(6, 4, 9);
  *(image.row(2) + 3 * 3) = 77;
  const Image part = crop(image, {3, 2, 2, 2});
  EXPECT_EQ(part.pixels[0], 77);
  EXPECT_EQ(part.pixels[1], 9);
}

TEST(Crop, MirrorsAndNearestPixelsAreCopies) {
  Image image = filled(2, 1, 9);
  image.pixels[0] = 77;
  const Image turned = mirrored(image);
  EXPECT_EQ(turned.pixels[3], 77);
  EXPECT_EQ(mirrored(turned).pixels, image.pixels);
}

}  // namespace crop_test
}  // namespace mpitron::images
