#include "inference/tasks/image_answers.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace image_answers_test {

TEST(ImageAnswers, AgreeWithPeople) {
  const std::vector<std::string> ten = {"Red", "red", "red.", "blue", "blue",
                                        "red", "red", "red",  "red",  "green"};
  EXPECT_NEAR(vqa_accuracy("the red", ten), 1, 1e-12);
  // Two of ten say so: of eight others two remain, of themselves one.
  EXPECT_NEAR(vqa_accuracy("blue", ten), (8 * 2.0 / 3 + 2 * 1.0 / 3) / 10, 1e-12);
  EXPECT_NEAR(vqa_accuracy("green", ten), 9 * (1.0 / 3) / 10, 1e-12);
  EXPECT_EQ(vqa_accuracy("Three!", {"3"}), 1);
  EXPECT_EQ(vqa_accuracy("2.5", {"25"}), 0);
  EXPECT_EQ(vqa_accuracy("", {"3"}), 0);
}

TEST(ImageAnswers, MayBeOffByFivePercent) {
  EXPECT_EQ(relaxed_accuracy("10.4", {"10"}), 1);
  EXPECT_EQ(relaxed_accuracy("10.6", {"10"}), 0);
  EXPECT_EQ(relaxed_accuracy("-9.5%", {"-10"}), 1);
  EXPECT_EQ(relaxed_accuracy("0.01", {"0"}), 0);
  EXPECT_EQ(relaxed_accuracy("1,000", {"1000"}), 1);
  EXPECT_EQ(relaxed_accuracy("Yes", {"no", "yes"}), 1);
}

}  // namespace image_answers_test

}  // namespace mpitron::inference
