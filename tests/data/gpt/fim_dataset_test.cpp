#include "data/gpt/fim_dataset.h"

#include <numeric>

#include <gtest/gtest.h>

#include "data/gpt/byte_tokenizer.h"
#include "data/index/numpy_random.h"
#include "utils/error.h"

namespace mpitron::data {
namespace fim_dataset_test {

using namespace fim_samples;

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
