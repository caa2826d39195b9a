#include <gtest/gtest.h>

#include "inference/tasks/image_answers.h"

namespace mpitron::inference {
namespace caption_score_test {

TEST(CaptionScore, CaptionsAreWeighed) {
  const std::vector<std::string> cat = {"a cat sits on a red mat"}, dog = {"two dogs run in snow"};
  EXPECT_NEAR(cider({{cat[0], cat}, {dog[0], dog}}), 10, 1e-9);
  EXPECT_NEAR(cider({{dog[0], cat}, {cat[0], dog}}), 0, 1e-9);
  // Three of seven words are as rare as the others; no piece of two is common but "a cat".
  const double half = cider({{"a cat runs", cat}, {dog[0], dog}});
  EXPECT_GT(half, 5);
  EXPECT_LT(half, 7);
}

}  // namespace caption_score_test

}  // namespace mpitron::inference
