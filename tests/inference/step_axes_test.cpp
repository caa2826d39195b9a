#include "inference/step_axes.h"

#include <gtest/gtest.h>

#include "support/host_runtime.h"

namespace mpitron::inference {
namespace step_axes_test {

/// An image of 2 x 2 positions behind a word, in two steps that meet within it.
TEST(StepAxes, GoOnWithinAnImage) {
  const config::VlmConfig vlm{.tower = config::TowerKind::siglip, .tile = 2, .patch = 1};
  const TokenIds ids = {7, -1, -2, -3, -4, 8};
  const std::span<const TokenId> all(ids);
  const auto device = device::make_device("host");
  StepAxes axes;
  axes.append({.tokens = all.first(1)}, 1, vlm);
  EXPECT_FALSE(axes.has_images());
  axes.clear();
  axes.append({.first_position = 2, .tokens = all.subspan(2), .seen = 1}, 5, vlm);  // and a draft
  axes.append({.tokens = all.first(3)}, 3, vlm);
  EXPECT_TRUE(axes.has_images());
  const tensor::Tensor places = axes.on_device(*device);
  ASSERT_EQ(places.shape(), (Shape{3, 8}));
  const std::int64_t* numbers = places.data<std::int64_t>();
  EXPECT_EQ(std::vector(numbers, numbers + 24),
            (std::vector<std::int64_t>{1, 1, 1, 3, 4, 0, 1, 1,  //
                                       1, 2, 2, 3, 4, 0, 1, 1,  //
                                       2, 1, 2, 3, 4, 0, 1, 2}));
}

}  // namespace step_axes_test
}  // namespace mpitron::inference
