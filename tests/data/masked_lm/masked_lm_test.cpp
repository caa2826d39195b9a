#include "data/masked_lm/masked_lm.h"

#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace masked_lm_test {

constexpr std::int64_t kMask = 3;

MaskedLmVocabulary vocabulary() {
  MaskedLmVocabulary vocabulary{.cls = 1, .sep = 2, .mask = kMask, .size = 100, .continues = {}};
  for (Index id = 0; id < 100; ++id) {
    vocabulary.continues.push_back(id >= 90);
  }
  return vocabulary;
}

MaskingOptions masking(bool geometric) {
  return {.probability = 0.15,
          .target = 64,
          .max_words = geometric ? 10 : 3,
          .geometric = geometric,
          .replace = [](std::int64_t) { return kMask; }};
}

/// CLS, words of one to three pieces, SEP.
std::vector<std::int64_t> some_text(std::uint32_t seed) {
  RandomState random(seed);
  std::vector<std::int64_t> text{1};
  while (text.size() < 63) {
    text.push_back(random.randint(10, 100));
  }
  text.push_back(2);
  return text;
}

TEST(MaskWords, MasksWholeWordsOnceAndSpecialTokensNever) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::vector<std::int64_t> original = some_text(seed);
    std::vector<std::int64_t> text = original;
    RandomState random(seed);
    const auto spans = mask_words(masking(seed % 2 == 1), vocabulary(), text, random);
    std::set<Index> masked;
    for (const MaskedSpan& span : spans) {
      ASSERT_EQ(span.positions.size(), span.tokens.size());
      for (std::size_t i = 0; i < span.positions.size(); ++i) {
        EXPECT_TRUE(masked.insert(span.positions[i]).second) << "masked twice";
        EXPECT_EQ(span.tokens[i], original[static_cast<std::size_t>(span.positions[i])]);
      }
    }
    EXPECT_GE(masked.size(), 1U);
    EXPECT_LE(static_cast<double>(masked.size()), 0.15 * 64 + 1);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool is_masked = masked.count(static_cast<Index>(i)) > 0;
      EXPECT_EQ(text[i], is_masked ? kMask : original[i]);
      EXPECT_FALSE(is_masked && original[i] <= 2);
      if (i > 1 && original[i] >= 90) {  // goes with the piece before it
        EXPECT_EQ(is_masked, masked.count(static_cast<Index>(i) - 1) > 0) << seed << ' ' << i;
      }
    }
  }
}

TEST(MaskWords, WithoutAReplacementTheTextStays) {
  std::vector<std::int64_t> text = some_text(1);
  const std::vector<std::int64_t> original = text;
  MaskingOptions options = masking(true);
  options.replace = {};
  RandomState random(1);
  EXPECT_FALSE(mask_words(options, vocabulary(), text, random).empty());
  EXPECT_EQ(text, original);
}

TEST(MaskWords, NothingToMaskIsNoError) {
  std::vector<std::int64_t> text{1, 2, 2};
  RandomState random(1);
  EXPECT_TRUE(mask_words(masking(false), vocabulary(), text, random).empty());
  // A limit below one token: 0.15 * 4.
  text = {1, 50, 2};
  MaskingOptions options = masking(false);
  options.target = 4;
  EXPECT_TRUE(mask_words(options, vocabulary(), text, random).empty());
}

}  // namespace masked_lm_test
}  // namespace mpitron::data
