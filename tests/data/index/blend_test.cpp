#include "data/index/blend.h"

#include <gtest/gtest.h>

#include "data/golden_gpt.h"
#include "utils/error.h"

namespace mpitron::data {
namespace blend_test {

void expect_index(const io::SafetensorsFile& arrays, const std::string& name, BlendIndex index) {
  EXPECT_EQ(integers(IndexArray(index.member)), integers(arrays.at(name + "/dataset_index")))
      << name;
  EXPECT_EQ(integers(IndexArray(index.sample)), integers(arrays.at(name + "/dataset_sample_index")))
      << name;
}

TEST(Blend, ReproducesEveryReferenceBlend) {
  const io::SafetensorsFile arrays(test::golden_folder() + "/dataset/indices.safetensors");
  const auto json = test::golden_json("dataset/indices.json");
  ASSERT_FALSE(json["blend_helper"].empty());
  ASSERT_FALSE(json["blend_exhaustive"].empty());
  for (const auto& expected : json["blend_helper"]) {
    const std::vector<double> weights = expected["weights"];
    expect_index(arrays, expected["arrays"], build_blend(weights, expected["size"]));
  }
  for (const auto& expected : json["blend_exhaustive"]) {
    const std::vector<Index> sizes = expected["sizes"];
    expect_index(arrays, expected["arrays"], build_exhaustive_blend(sizes));
  }
}

TEST(Blend, ParsesWordsWithAndWithoutWeights) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(parse_blend(Words{"0.5", "a", "2", "b"}).weights, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(parse_blend(Words{"0.5", "a", "2", "b"}).prefixes, (Words{"a", "b"}));
  EXPECT_EQ(parse_blend(Words{"a", "b"}).prefixes, (Words{"a", "b"}));
  EXPECT_TRUE(parse_blend(Words{"a", "b"}).weights.empty());
  EXPECT_EQ(parse_blend(Words{"1", "a", "b"}).prefixes, (Words{"1", "a", "b"}));
  EXPECT_THROW(parse_blend(Words{"-1", "a", "1", "b"}), Error);
  EXPECT_THROW(parse_blend(Words{"0", "a", "0", "b"}), Error);
  EXPECT_THROW(parse_blend(Words{"0.5", "a", "0.5"}), Error);
}

// Weights 0.001 / 0.999 starve the small member for long; counts never drift by more than one.
TEST(Blend, CountsFollowExtremeWeights) {
  const std::vector<double> weights{0.001, 0.999};
  const BlendIndex index = build_blend(weights, 100000);
  const auto small = std::count(index.member.begin(), index.member.end(), 0);
  EXPECT_NEAR(static_cast<double>(small), 100.0, 1.0);
}

}  // namespace blend_test
}  // namespace mpitron::data
