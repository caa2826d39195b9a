#include "images/augment/auto_augment.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace auto_augment_test {

Image drawn(Index width, Index height) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(i * i / 5 + i);
  }
  return image;
}

TEST(AutoAugment, EverySubPolicyKeepsTheSize) {
  const Image image = drawn(40, 30);
  Index changed = 0;
  for (Index policy = 0; policy < kSubPolicies; ++policy) {
    const Image result = with_sub_policy(image, policy, Draws({.sample = policy}));
    EXPECT_EQ(result.pixels.size(), image.pixels.size());
    changed += result.pixels != image.pixels ? 1 : 0;
  }
  EXPECT_GT(changed, kSubPolicies / 2);
}

}  // namespace auto_augment_test
}  // namespace mpitron::images
