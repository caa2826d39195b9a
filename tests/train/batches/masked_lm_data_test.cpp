#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/core/null_tokenizer.h"
#include "tokenizers/word_piece/bert_tokenizer.h"
#include "train/batches/training_data.h"
#include "train/tiny_run.h"
#include "utils/error.h"

namespace mpitron::train {
namespace masked_lm_data_test {

class MaskedLmData : public ::testing::Test {
 protected:
  tokenizers::BertTokenizer tokenizer(const std::string& tokens, Index extra_ids = 0) const {
    test::write_bytes(folder_ / "vocab.txt", tokens);
    return {folder_ / "vocab.txt", {.extra_ids = extra_ids}};
  }
  const test::TemporaryFolder folder_;
  const std::string tokens_ = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhouse\n##s\n";
  static config::RunConfig run(const std::vector<std::string>& flags) {
    config::RunConfig config = tiny_run(flags);
    config.data.mock_data = false;
    return config;
  }
  const config::RunConfig gpt_ = run({}), bert_ = run({"--model", "bert"}),
                          t5_ = run({"--model", "t5", "--decoder-seq-length", "4"});
};

TEST_F(MaskedLmData, TakesSpecialTokensAndContinuationsFromTheTokenizer) {
  const data::MaskedLmVocabulary vocabulary = masked_lm_vocabulary(bert_, tokenizer(tokens_));
  EXPECT_EQ(vocabulary.pad, 0);
  EXPECT_EQ(vocabulary.cls, 2);
  EXPECT_EQ(vocabulary.sep, 3);
  EXPECT_EQ(vocabulary.mask, 4);
  EXPECT_EQ(vocabulary.size, 9);  // [BOS] and [EOS] are added
  EXPECT_FALSE(vocabulary.continues_word(5));
  EXPECT_TRUE(vocabulary.continues_word(6));
}

TEST_F(MaskedLmData, T5NeedsSentinels) {
  EXPECT_THROW(masked_lm_vocabulary(t5_, tokenizer(tokens_)), Error);
  const data::MaskedLmVocabulary vocabulary = masked_lm_vocabulary(t5_, tokenizer(tokens_, 5));
  EXPECT_EQ(vocabulary.end_sentinel - vocabulary.first_sentinel, 5);
  EXPECT_EQ(vocabulary.bos, 7);
  EXPECT_EQ(vocabulary.eos, 8);
  EXPECT_THROW(masked_lm_vocabulary(t5_, tokenizer(tokens_ + "<extra_id_1>\n", 5)), Error);
}

TEST_F(MaskedLmData, RefusesTokenizersWithoutWhatBertNeeds) {
  EXPECT_THROW(masked_lm_vocabulary(bert_, tokenizers::NullTokenizer(20)), Error);
  EXPECT_THROW(
      masked_lm_vocabulary(bert_, tokenizer("[UNK]\n[CLS]\n[SEP]\n[MASK]\nhouse\n[PAD]\n")), Error);
}

TEST_F(MaskedLmData, ARequestSaysHowSamplesAreMade) {
  const auto words = tokenizer(tokens_, 5);
  EXPECT_FALSE(masked_lm_request(gpt_, words));
  EXPECT_THROW(masked_lm_request(tiny_run({"--model", "bert"}), words), Error);  // mock data
  const auto bert = masked_lm_request(bert_, words);
  EXPECT_EQ(bert->description.masking_max_ngram, 3);
  EXPECT_EQ(bert->description.classification_head, true);
  EXPECT_FALSE(bert->description.decoder_seq_length);
  const auto t5 = masked_lm_request(t5_, words);
  EXPECT_EQ(t5->description.masking_max_ngram, 10);
  EXPECT_TRUE(t5->description.geometric);
  EXPECT_EQ(t5->description.decoder_seq_length, 4);
}

}  // namespace masked_lm_data_test
}  // namespace mpitron::train
