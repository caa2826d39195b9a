#include "data/gpt/fim_dataset.h"

#include <numeric>

#include <gtest/gtest.h>

#include "data/index/numpy_random.h"
#include "utils/error.h"

namespace mpitron::data {
namespace fim_dataset_test {

using tokenizers::TokenId;
using Tokens = std::vector<std::int64_t>;

/// Ids 0 to 255 are bytes; marks follow, which texts cannot name.
class ByteTokenizer : public tokenizers::Tokenizer {
 public:
  std::string_view name() const override { return "bytes"; }
  tokenizers::TokenizerIdentity identity() const override { return {}; }
  std::string fingerprint() const override { return "bytes"; }
  Index vocab_size() const override { return 256 + static_cast<Index>(std::size(kMarks)); }
  TokenId eod() const override { return 260; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  void encode(std::string_view text, Cache&, tokenizers::TokenIds& ids) const override {
    for (const char c : text) {
      ids.push_back(static_cast<unsigned char>(c));
    }
  }
  std::string decode(std::span<const TokenId> ids) const override {
    std::string text;
    for (const TokenId id : ids) {
      text += id < 256 ? std::string(1, static_cast<char>(id))
                       : kMarks[static_cast<std::size_t>(id - 256)];
    }
    return text;
  }

 private:
  static constexpr const char* kMarks[] = {"<fim_prefix>", "<fim_middle>",  "<fim_suffix>",
                                           "<fim_pad>",    "<|endoftext|>", "<file>"};
};
constexpr std::int64_t kPrefix = 256, kMiddle = 257, kSuffix = 258, kPad = 259, kEod = 260,
                       kFile = 261;

const ByteTokenizer kBytes;

config::FimConfig config_of(double rate, double spm_rate) {
  return {.rate = rate,
          .spm_rate = spm_rate,
          .split_sample = {},
          .fragment_rate = {},
          .no_prefix = "",
          .prefix_token = "<fim_prefix>",
          .middle_token = "<fim_middle>",
          .suffix_token = "<fim_suffix>",
          .pad_token = "<fim_pad>",
          .eod_token = "<|endoftext|>"};
}

Tokens tokens_of(const std::string& text) {
  Tokens tokens;
  for (const char c : text) {
    tokens.push_back(static_cast<unsigned char>(c));
  }
  return tokens;
}

Tokens permuted(const Tokens& tokens, const config::FimConfig& config, std::uint32_t seed = 1) {
  RandomState random(seed);
  return fill_in_the_middle(tokens, make_fim_options(config, 0, kBytes), random);
}

/// What stands behind a mark, up to the next one.
std::string behind(const Tokens& tokens, std::int64_t mark) {
  std::string text;
  for (auto at = std::ranges::find(tokens, mark); ++at != tokens.end() && *at < 256;) {
    text += static_cast<char>(*at);
  }
  return text;
}

TEST(FillInTheMiddle, PrefixMiddleAndSuffixAreTheText) {
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
TEST(FillInTheMiddle, TheSuffixMayComeFirst) {
  const Tokens cut = permuted(tokens_of("a text of words"), config_of(1, 1));
  EXPECT_EQ(cut[0], kPrefix);
  EXPECT_EQ(cut[1], kSuffix);
  EXPECT_EQ(behind(cut, kMiddle) + behind(cut, kSuffix), "a text of words");
}

TEST(FillInTheMiddle, TextsBetweenEndsOfDocumentsAreCutByThemselves) {
  const Tokens text{'a', 'b', kEod, kEod, 'c', kEod};
  EXPECT_EQ(permuted(text, config_of(0, 0.5)), (Tokens{'a', 'b', kEod, 'c', kEod}));
  const Tokens cut = permuted(text, config_of(1, 0.5));
  EXPECT_EQ(std::ranges::count(cut, kPrefix), 3);  // the empty end is a text, too
  EXPECT_EQ(std::ranges::count(cut, kEod), 2);
}

TEST(FillInTheMiddle, FragmentsAndPrefixesThatStay) {
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
TEST(FillInTheMiddle, RatesAreShares) {
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

TEST(FillInTheMiddle, UnknownTokensAreNamed) {
  config::FimConfig config = config_of(1, 1);
  config.middle_token = "<hole>";
  try {
    make_fim_options(config, 0, kBytes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--fim-middle-token <hole>"), std::string::npos);
  }
}

/// Sample n counts from n on; what the corpus lacks is -1.
class Counting : public Dataset {
 public:
  Index size() const override { return 50; }
  void read(Index sample, std::span<std::int64_t> tokens) const override {
    std::iota(tokens.begin(), tokens.end(), sample + 32);
    if (sample == 49) {
      tokens.back() = -1;
    }
  }
  const std::string& description() const override { return description_; }

 private:
  std::string description_ = "{}";
};

Tokens sample_of(Index sample, double rate, Index seed) {
  const FimDataset set(std::make_shared<const Counting>(),
                       make_fim_options(config_of(rate, 0.5), seed, kBytes));
  Tokens tokens(21);
  set.read(sample, tokens);
  return tokens;
}

TEST(FimDataset, SamplesKeepTheirLength) {
  for (Index sample = 0; sample < 50; ++sample) {
    const Tokens tokens = sample_of(sample, 1, 7);
    EXPECT_EQ(tokens.front(), kPrefix);  // and three tokens less at the end
    EXPECT_EQ(tokens.back() == -1, sample == 49);
    EXPECT_EQ(std::ranges::count(tokens, kPad), 0);
  }
}

TEST(FimDataset, DrawsDependOnSeedAndSampleAlone) {
  EXPECT_EQ(sample_of(3, 1, 7), sample_of(3, 1, 7));
  int other_seed = 0, other_sample = 0;
  for (Index sample = 0; sample < 20; ++sample) {
    const auto first = [](const Tokens& tokens) { return behind(tokens, kPrefix).size(); };
    other_seed += first(sample_of(sample, 1, 7)) != first(sample_of(sample, 1, 8)) ? 1 : 0;
    other_sample += first(sample_of(sample, 1, 7)) != first(sample_of(sample + 1, 1, 7)) ? 1 : 0;
  }
  EXPECT_GT(other_seed, 10);
  EXPECT_GT(other_sample, 10);
}

/// Dropped ends of documents leave room.
TEST(FimDataset, ShorterTextsArePadded) {
  class Ends : public Counting {
    void read(Index, std::span<std::int64_t> tokens) const override {
      std::ranges::fill(tokens, kEod);
      tokens[0] = 'a';
    }
  };
  const FimDataset set(std::make_shared<const Ends>(),
                       make_fim_options(config_of(0, 0.5), 0, kBytes));
  Tokens tokens(4);
  set.read(0, tokens);
  EXPECT_EQ(tokens, (Tokens{'a', kEod, kPad, kPad}));
}

}  // namespace fim_dataset_test
}  // namespace mpitron::data
