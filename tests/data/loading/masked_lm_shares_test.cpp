#include "data/loading/masked_lm_shares.h"

#include <gtest/gtest.h>

#include "io/tokens/token_file_writer.h"
#include "support/corpus.h"

namespace mpitron::data {
namespace masked_lm_shares_test {

class MaskedLmShares : public ::testing::Test {
 protected:
  MaskedLmShares() {
    for (const char* name : {"a", "b"}) {
      io::TokenFileWriter writer(folder_ / name, io::TokenType::u16);
      for (int i = 0; i < 10; ++i) {  // one sample of ten tokens each
        writer.add_document(std::vector<std::int32_t>(10, 7), std::vector<std::int32_t>{5, 5});
      }
      writer.commit();
    }
    request_.data.sample.seq_length = 63;
    request_.data.num_samples[Split::train] = 40;
    request_.data.num_samples[Split::valid] = 0;
    request_.masking.short_sequence_probability = 0.0;
  }
  std::vector<std::string> words(const std::vector<std::string>& words) const {
    std::vector<std::string> result = words;
    for (std::string& word : result) {
      word = word == "a" || word == "b" ? folder_ / word : word;
    }
    return result;
  }

  test::TemporaryFolder folder_;
  MaskedLmShareRequest request_;
};

TEST_F(MaskedLmShares, CountsSamplesTokensAndEpochs) {
  request_.data.blend = parse_blend(words({"a"}));
  request_.data.split = "8,2,0";
  const auto shares = masked_lm_shares(request_, Split::train);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].sequences, 16);
  EXPECT_EQ(shares[0].tokens, 80);
  EXPECT_EQ(shares[0].epochs, 5);
  EXPECT_EQ(shares[0].samples, 40);
  EXPECT_EQ(shares[0].used, 40);
  EXPECT_EQ(shares[0].used_tokens, 400);
  EXPECT_TRUE(masked_lm_shares(request_, Split::valid).empty());  // no samples asked for
}

TEST_F(MaskedLmShares, DividesABlendByItsWeights) {
  request_.data.per_split[Split::train] = parse_blend(words({"3", "a", "1", "b"}));
  const auto shares = masked_lm_shares(request_, Split::train);
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].used, 30);
  EXPECT_EQ(shares[1].used, 10);
}

TEST_F(MaskedLmShares, NeedANumberOfSamples) {
  request_.data.blend = parse_blend(words({"a"}));
  request_.data.num_samples[Split::train] = std::nullopt;
  EXPECT_THROW(masked_lm_shares(request_, Split::train), Error);
}

}  // namespace masked_lm_shares_test
}  // namespace mpitron::data
