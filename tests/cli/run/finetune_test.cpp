#include <gtest/gtest.h>

#include "cli/sentences.h"

namespace mpitron::cli {
namespace finetune_test {

using namespace mpitron::test;

/// Pairs of sentences that follow from each other where both begin with the same word.
void write_pairs(const std::string& path, int pairs) {
  std::string text = "index\tsentence1\tsentence2\tlabel\n";
  const Words words = {"cat", "dog", "bird", "tree"};
  for (int i = 0; i < pairs; ++i) {
    const auto first = static_cast<std::size_t>(i % 4),
               second = static_cast<std::size_t>(i / 4 % 4);
    text += std::to_string(i) + '\t' + words[first] + " sat on the mat\t" + words[second] +
            " ran\t" + (first == second ? "entailment" : "not_entailment") + '\n';
  }
  write_bytes(path, text);
}

class Finetune : public ::testing::Test {
 protected:
  Finetune() {
    write_sentences(folder_, 4);  // for its vocabulary
    write_pairs(folder_ / "train.tsv", 22);
    write_pairs(folder_ / "dev.tsv", 10);
  }
  Finished run(const Words& more, const ProgramEnvironment& environment = {}) {
    Words words = kTinyModel + kWordPieces;
    words.front() = "finetune";
    const auto task = std::ranges::find(words, "--log-interval");
    *(task + 1) = "1";
    return run_program(folder_.path(), words + more, environment);
  }
  std::string out_of(const Words& more) {
    const Finished finished = run(kRte + more);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
  /// What an epoch's evaluation says, without its time.
  static Words evaluations(const std::string& out) {
    Words lines;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with(" >")) {
        lines.push_back(line.substr(0, line.find(", elapsed")));
      }
    }
    std::erase_if(lines, [](const std::string& l) { return !contains(l, "epoch"); });
    return lines;
  }

  const Words kRte = {"--task",       "RTE",     "--train-data", "train.tsv",
                      "--valid-data", "dev.tsv", "--epochs",     "2"};
  const TemporaryFolder folder_;
};

TEST_F(Finetune, EvaluatesEveryFileAfterEveryEpoch) {
  const std::string out = out_of({"--predictions-path", "said.jsonl", "--tensorboard-dir", "log"});
  EXPECT_EQ(losses(out).size(), 10U);  // 22 samples, 4 a step, twice
  const Words lines = evaluations(out);
  ASSERT_EQ(lines.size(), 4U) << out;
  EXPECT_TRUE(lines[0].starts_with(" > |epoch: 0| metrics for dev: correct / total = "))
      << lines[0];
  EXPECT_TRUE(lines[3].starts_with(" >> |epoch: 1| overall: correct / total = ")) << lines[3];
  const std::string said(MappedFile(folder_ / "said.jsonl").text());
  EXPECT_EQ(std::ranges::count(said, '\n'), 10);
  EXPECT_TRUE(contains(said, R"({"data": "dev", "id": 9, "prediction": )")) << said;
  EXPECT_TRUE(
      contains(std::string(MappedFile(folder_ / "log/metrics.jsonl").text()), "accuracy dev"));
}

TEST_F(Finetune, GoesOnInTheMiddleOfAnEpoch) {
  const Words dropout = {"--hidden-dropout", "0.1", "--attention-dropout", "0.1"};
  const std::string whole = out_of(dropout);
  const Words lines = result_lines(whole);
  ASSERT_EQ(lines.size(), 10U);
  out_of(dropout + Words{"--save", "run", "--save-interval", "3", "--exit-interval", "3"});
  const std::string rest = out_of(dropout + Words{"--load", "run"});
  EXPECT_EQ(result_lines(rest), Words(lines.begin() + 3, lines.end()));
  EXPECT_EQ(evaluations(rest), evaluations(whole));
  const std::string only =
      out_of(dropout + Words{"--load", "run", "--save", "run", "--epochs", "2"});
  const Finished again = run(kRte + Words{"--load", "run", "--epochs", "0"});
  EXPECT_EQ(again.code, 0) << again.err;
  ASSERT_EQ(evaluations(again.out).size(), 2U) << again.out;
  EXPECT_EQ(evaluations(again.out)[1].substr(14), evaluations(whole)[3].substr(13));
}

TEST_F(Finetune, BeginsFromAPretrainedEncoderOrDecoder) {
  ASSERT_EQ(preprocess_sentences(folder_).code, 0);
  Words pretrain = tiny_encoder("pretrain-bert") +
                   Words{"--data-path", "corpus_text_sentence", "--save", "base"};
  for (const char* length : {"--seq-length", "--max-position-embeddings"}) {
    *(std::ranges::find(pretrain, length) + 1) = "16";
  }
  *(std::ranges::find(pretrain, "--eval-iters") + 1) = "0";
  ASSERT_EQ(run_program(folder_.path(), pretrain).code, 0);
  const std::string out = out_of({"--pretrained-checkpoint", "base"});
  EXPECT_TRUE(contains(out, "begin anew: classification_head.")) << out;
  EXPECT_FALSE(contains(out, "begin anew: pooler")) << out;
  ASSERT_EQ(
      run_program(folder_.path(), kTinyMock + kSixteenPositions + Words{"--save", "gpt"}).code, 0);
  const Finished gpt =
      run(kRte + Words{"--model", "gpt", "--pretrained-checkpoint", "gpt", "--tokenizer-type",
                       "BertWordPieceLowerCase", "--padded-vocab-size", "128"});
  EXPECT_EQ(gpt.code, 0) << gpt.err;
  EXPECT_EQ(evaluations(gpt.out).size(), 4U) << gpt.out;
}

TEST_F(Finetune, SaysWhatIsWrong) {
  const auto refused = [&](const Words& words, const std::string& part, int code) {
    const Finished finished = run(words);
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
  };
  refused({}, "--task is missing", 2);
  refused({"--task", "SQUAD"}, "MNLI", 2);
  refused(kRte + Words{"--train-iters", "3"}, "given by --epochs", 2);
  refused({"--task", "RTE", "--train-data", "none.tsv"}, "none.tsv", 4);
  write_bytes(folder_ / "bad.tsv", "index\ta\tb\tlabel\n0\tx\ty\tyes\n");
  refused({"--task", "RTE", "--train-data", "bad.tsv"}, "bad.tsv:2: label \"yes\"", 4);
  write_pairs(folder_ / "few.tsv", 3);
  refused({"--task", "RTE", "--train-data", "few.tsv"}, "3 samples are fewer", 2);
}

}  // namespace finetune_test
}  // namespace mpitron::cli
