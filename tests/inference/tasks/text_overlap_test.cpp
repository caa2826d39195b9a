#include "inference/tasks/text_overlap.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace text_overlap_test {

TEST(WordF1, CountsCommonWords) {
  EXPECT_DOUBLE_EQ(*word_f1("The old map.", "an old map of gold"), 2.0 * 2 / (2 + 4));
  EXPECT_DOUBLE_EQ(*word_f1("map map", "map"), 2.0 / 3);
  EXPECT_EQ(*word_f1("", "map"), 0);
  EXPECT_EQ(*word_f1("kettle", "map"), 0);
  EXPECT_FALSE(word_f1("map", "the"));
}

TEST(CorpusBleu, IsThatOfPapineni) {
  EXPECT_DOUBLE_EQ(corpus_bleu({{"the cat sat on a mat", "The cat sat on a mat."}}), 1);
  EXPECT_EQ(corpus_bleu({{"the cat", "the cat sat on a mat"}}), 0);  // no four words in a row
  // Precisions 5/6, 3/5, 2/4, 1/3 of six words, six in the answer.
  EXPECT_NEAR(corpus_bleu({{"the cat sat on the mat", "the cat sat on a mat"}}),
              std::pow(5.0 / 6 * 3 / 5 * 2 / 4 * 1 / 3, 0.25), 1e-12);
  // Too short: exp(1 - 6 / 5).
  EXPECT_NEAR(corpus_bleu({{"the cat sat on a", "the cat sat on a mat"}}), std::exp(1 - 6.0 / 5),
              1e-12);
}

}  // namespace text_overlap_test
}  // namespace mpitron::inference
