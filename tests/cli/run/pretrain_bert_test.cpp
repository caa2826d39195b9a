#include <gtest/gtest.h>

#include "cli/sentences.h"

namespace mpitron::cli {
namespace pretrain_bert_test {

using namespace mpitron::test;

class PretrainBert : public ::testing::Test {
 protected:
  PretrainBert() { write_sentences(folder_, 40); }
  Finished run(const Words& words, const ProgramEnvironment& environment = {}) {
    return run_program(folder_.path(), words, environment);
  }
  /// The output of a run on the corpus of sentences.
  std::string train(const Words& more = {}, const ProgramEnvironment& environment = {}) {
    const Finished finished =
        run(tiny_encoder("pretrain-bert") + Words{"--data-path", "corpus_text_sentence"} + more,
            environment);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }

  const TemporaryFolder folder_;
};

TEST_F(PretrainBert, LogsBothLossesAlsoOfTheValidation) {
  ASSERT_EQ(preprocess_sentences(folder_).code, 0);
  const std::string out = train();
  EXPECT_EQ(losses(out).size(), 4U);
  EXPECT_TRUE(contains(out, "| sop loss: ")) << out;
  EXPECT_TRUE(contains(out, "sop loss value: ")) << out;
  const std::string alone = train({"--bert-no-binary-head"});
  EXPECT_EQ(losses(alone).size(), 4U);
  EXPECT_FALSE(contains(alone, "sop loss"));
}

TEST_F(PretrainBert, TheSameDigitsForAnyNumberOfThreadsAndAfterAResume) {
  ASSERT_EQ(preprocess_sentences(folder_).code, 0);
  const Words dropout = {"--hidden-dropout", "0.1", "--attention-dropout", "0.1"};
  const Words lines = result_lines(train(dropout, {.variables = {{"OMP_NUM_THREADS", "1"}}}));
  ASSERT_EQ(lines.size(), 5U);  // 4 iterations, validation
  EXPECT_EQ(result_lines(train(
                dropout + Words{"--save", "run", "--save-interval", "2", "--exit-interval", "2"},
                {.variables = {{"OMP_NUM_THREADS", "2"}}})),
            Words(lines.begin(), lines.begin() + 2));
  EXPECT_EQ(result_lines(train(dropout + Words{"--load", "run"})),
            Words(lines.begin() + 2, lines.end()));
}

TEST_F(PretrainBert, SaysWhatItsDataLack) {
  ASSERT_EQ(preprocess_sentences(folder_, false).code, 0);
  const Words model = tiny_encoder("pretrain-bert");
  const auto expect_refused = [&](const Words& more, const std::string& part) {
    const Finished finished = run(model + more);
    EXPECT_EQ(finished.code, 2) << finished.err;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
  };
  expect_refused({"--data-path", "corpus_text_document"}, "--split-sentences");
  expect_refused({"--data-path", "corpus_text_document", "--tokenizer-type", "NullTokenizer",
                  "--vocab-size", "63"},
                 "has no token [PAD]");
  expect_refused({"--mock-data"}, "--mock-data");
  expect_refused({"--data-path", "corpus_text_document", "--model", "gpt"}, "pretrain-gpt");
}

}  // namespace pretrain_bert_test
}  // namespace mpitron::cli
