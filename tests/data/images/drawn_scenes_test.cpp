#include "data/images/drawn_scenes.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace drawn_scenes_test {

TEST(DrawnScenes, FollowFromSeedAndNumber) {
  const auto pixels = [](std::uint64_t seed, Index number, Index set) {
    return drawn_shape(2, {seed, number, set}, 32).pixels;
  };
  EXPECT_EQ(pixels(1, 7, 0), pixels(1, 7, 0));
  EXPECT_NE(pixels(1, 7, 0), pixels(2, 7, 0));
  EXPECT_NE(pixels(1, 7, 0), pixels(1, 8, 0));
  EXPECT_NE(pixels(1, 7, 0), pixels(1, 7, 1));
  EXPECT_TRUE(std::ranges::is_sorted(drawn_classes()));
}

TEST(DrawnScenes, AskAsOftenForEachNumber) {
  std::array<Index, 5> answers{};
  for (Index number = 0; number < 300; ++number) {
    const DrawnScene scene = drawn_scene({5, number, 0}, 32, {});
    ASSERT_EQ(scene.questions.size(), 9U);
    Index figures = 0;
    for (const auto& question : scene.questions) {
      figures += std::stol(question.answer);
    }
    EXPECT_LE(figures, 9);
    ++answers.at(std::stoul(scene.questions.front().answer));
  }
  EXPECT_GT(*std::ranges::min_element(answers), 40);
}

TEST(DrawnScenes, SayTheirWord) {
  const std::vector<std::string> words = {"cat", "river"};
  const DrawnScene scene = drawn_scene({5, 1, 1}, 64, words);
  EXPECT_EQ(scene.questions.back().text, "Which word?");
  EXPECT_TRUE(std::ranges::count(words, scene.questions.back().answer) == 1);
  EXPECT_NE(scene.image.pixels, drawn_scene({5, 1, 1}, 64, {}).image.pixels);
}

}  // namespace drawn_scenes_test
}  // namespace mpitron::data
