#include "data/gpt/fim_permutation.h"

#include <gtest/gtest.h>

#include "data/gpt/byte_tokenizer.h"

namespace mpitron::data {
namespace fim_permutation_test {

using namespace fim_samples;

TEST(FimPermutation, PrefixMiddleAndSuffixAreTheText) {
  const std::string text = "zwölf Boxkämpfer jagen Viktor";  // of characters of two bytes, too
  bool inner = false;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const Tokens cut = permuted(tokens_of(text), config_of(1, 1e-300), seed);
    ASSERT_EQ(cut.front(), kPrefix);
    const std::string prefix = behind(cut, kPrefix), middle = behind(cut, kMiddle);
    EXPECT_EQ(prefix + middle + behind(cut, kSuffix), text);
    EXPECT_EQ(cut.size(), text.size() + 3);
    EXPECT_NE(static_cast<unsigned char>(middle[0]) & 0xC0, 0x80);  // no half of a character
    inner = inner || (!prefix.empty() && !middle.empty());
  }
  EXPECT_TRUE(inner);
}

/// P S suffix M prefix middle.
TEST(FimPermutation, TheSuffixMayComeFirst) {
  const Tokens cut = permuted(tokens_of("a text of words"), config_of(1, 1));
  EXPECT_EQ(cut[0], kPrefix);
  EXPECT_EQ(cut[1], kSuffix);
  EXPECT_EQ(behind(cut, kMiddle) + behind(cut, kSuffix), "a text of words");
}

TEST(FimPermutation, TextsBetweenEndsOfDocumentsAreCutByThemselves) {
  const Tokens text{'a', 'b', kEod, kEod, 'c', kEod};
  EXPECT_EQ(permuted(text, config_of(0, 0.5)), (Tokens{'a', 'b', kEod, 'c', kEod}));
  const Tokens cut = permuted(text, config_of(1, 0.5));
  EXPECT_EQ(std::ranges::count(cut, kPrefix), 3);  // the empty end is a text, too
  EXPECT_EQ(std::ranges::count(cut, kEod), 2);
}

TEST(FimPermutation, FragmentsAndPrefixesThatStay) {
  config::FimConfig config = config_of(1, 0.5);
  config.split_sample = "<file>";
  config.fragment_rate = 0;
  const Tokens two{'a', kFile, 'b'};
  EXPECT_EQ(permuted(two, config), two);
  config.fragment_rate = 1;
  EXPECT_EQ(std::ranges::count(permuted(two, config), kPrefix), 2);
  config.no_prefix = "b";
  EXPECT_EQ(std::ranges::count(permuted(two, config), kPrefix), 1);
}

/// A share of 3000 texts is within four standard deviations of its rate.
TEST(FimPermutation, RatesAreShares) {
  int cut = 0, suffix_first = 0;
  constexpr int kTexts = 3000;
  for (std::uint32_t seed = 0; seed < kTexts; ++seed) {
    const Tokens tokens = permuted(tokens_of("text"), config_of(0.3, 0.8), seed);
    cut += tokens.front() == kPrefix ? 1 : 0;
    suffix_first += tokens.front() == kPrefix && tokens[1] == kSuffix ? 1 : 0;
  }
  EXPECT_NEAR(cut, 0.3 * kTexts, 4 * std::sqrt(0.21 * kTexts));
  // An empty prefix looks the same.
  EXPECT_NEAR(suffix_first, (0.8 + 0.2 * 9 / 25) * cut, 4 * std::sqrt(0.16 * cut));
}

}  // namespace fim_permutation_test
}  // namespace mpitron::data
