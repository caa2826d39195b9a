#include "models/llava/axis_places.h"

#include <vector>

#include <gtest/gtest.h>

namespace mpitron::models {
namespace axis_places_test {

/// The numbers of transformers' get_rope_index for two words, an image of 3 x 3 positions, a word,
/// another such image and two words.
TEST(AxisPlaces, AreThoseOfTheLibrary) {
  const config::VlmConfig vlm{
      .tower = config::TowerKind::siglip, .tile = 12, .patch = 2, .pixel_shuffle = true};
  const std::vector<std::vector<std::int64_t>> want = {
      {0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 9, 10},
      {0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 10},
      {0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 5, 6, 7, 8, 6, 7, 8, 6, 7, 8, 9, 10}};
  ASSERT_EQ(vlm.positions(), 9);
  std::vector<std::vector<std::int64_t>> got(kAxes);
  Index seen = 0;
  for (Index i = 0; i < 23; ++i) {
    const bool of_image = (i >= 2 && i < 11) || (i >= 12 && i < 21);
    const AxisPlaces row = axis_places(vlm, i, seen, of_image);
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      got[axis].push_back(row[axis]);
    }
    seen += of_image ? 1 : 0;
  }
  EXPECT_EQ(got, want);
}

}  // namespace axis_places_test
}  // namespace mpitron::models
