#include "train/batches/made_up_corpus.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace made_up_corpus_test {

std::vector<std::int64_t> copy(std::span<const std::int64_t> x) {
  return {x.begin(), x.end()};
}

TEST(MadeUpCorpus, ASampleIsAFunctionOfItsNumber) {
  for (const std::vector<std::string>& model : {std::vector<std::string>{},
                                                {"--model", "bert"},
                                                {"--model", "t5", "--decoder-seq-length", "5"}}) {
    MadeUpCorpus corpus(tiny_run(model).model), again(tiny_run(model).model);
    const HostMicrobatch both = corpus.rows(3, 2);
    const auto tokens = copy(both.tokens), labels = copy(both.labels);
    const HostMicrobatch second = again.rows(4, 1);
    EXPECT_EQ(copy(second.tokens), (std::vector<std::int64_t>{tokens.begin() + 8, tokens.end()}));
    EXPECT_EQ(copy(second.labels),
              (std::vector<std::int64_t>{labels.end() - std::ssize(second.labels), labels.end()}));
  }
}

TEST(MadeUpCorpus, HasWhatTheModelReads) {
  MadeUpCorpus bert(tiny_run({"--model", "bert"}).model);
  const HostMicrobatch parts = bert.rows(1, 1);
  EXPECT_EQ(copy(parts.padding_mask), (std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(copy(parts.token_types), (std::vector<std::int64_t>{0, 0, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(copy(parts.sentence_order), std::vector<std::int64_t>{1});
  EXPECT_TRUE(parts.decoder_tokens.empty());
  MadeUpCorpus t5(tiny_run({"--model", "t5", "--decoder-seq-length", "5"}).model);
  const HostMicrobatch streams = t5.rows(1, 2);
  EXPECT_EQ(streams.decoder_tokens.size(), 10U);
  EXPECT_EQ(copy(streams.decoder_padding_mask),
            (std::vector<std::int64_t>{1, 1, 1, 1, 0, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(streams.token_types.empty() && streams.sentence_order.empty());
}

}  // namespace made_up_corpus_test
}  // namespace mpitron::train
