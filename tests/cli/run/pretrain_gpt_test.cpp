#include <csignal>

#include <gtest/gtest.h>

#include "cli/tiny_run.h"
#include "tokenizers/families_folder.h"

namespace mpitron::cli {
namespace pretrain_gpt_test {

using namespace mpitron::test;

class PretrainGpt : public ::testing::Test {
 protected:
  Finished run(const Words& words, const ProgramEnvironment& environment = {}) {
    return run_program(folder_.path(), words, environment);
  }
  /// The output of a run that must succeed.
  std::string train(const Words& words, const ProgramEnvironment& environment = {}) {
    const Finished finished = run(words, environment);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }
  void expect_refused(const Words& words, int code, const std::string& part) {
    const Finished finished = run(words);
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_TRUE(contains(finished.err, part)) << finished.err;
    EXPECT_TRUE(losses(finished.out).empty());
  }

  const TemporaryFolder folder_;
};

TEST_F(PretrainGpt, TheSameDigitsForAnyNumberOfThreadsAndWhenRepeated) {
  const Words lines = result_lines(train(kTinyMock, {.variables = {{"OMP_NUM_THREADS", "1"}}}));
  EXPECT_EQ(lines.size(), 6U);  // 4 iterations, validation, test
  for (const char* threads : {"1", "2", "3"}) {
    EXPECT_EQ(result_lines(train(kTinyMock, {.variables = {{"OMP_NUM_THREADS", threads}}})), lines)
        << threads;
  }
  EXPECT_NE(result_lines(train(kTinyMock + Words{"--seed", "4321"})), lines);
}

TEST_F(PretrainGpt, RecomputationChangesNothing) {
  const Words flags = kTinyMock + Words{"--attention-dropout", "0.1", "--hidden-dropout", "0.1"};
  const Words lines = result_lines(train(flags));
  EXPECT_EQ(
      result_lines(train(flags + Words{"--recompute-granularity", "full", "--recompute-method",
                                       "uniform", "--recompute-num-layers", "1"})),
      lines);
  EXPECT_EQ(result_lines(train(flags + Words{"--recompute-granularity", "selective"})), lines);
}

TEST_F(PretrainGpt, HalfPrecisionStaysNearSinglePrecision) {
  const std::vector<double> single = losses(train(kTinyMock));
  for (const char* type : {"--bf16", "--fp16"}) {
    const std::string out = train(kTinyMock + Words{type, "--initial-loss-scale", "1024"});
    const std::vector<double> half = losses(out);
    ASSERT_EQ(half.size(), single.size()) << type;
    EXPECT_NE(half, single) << type;
    for (std::size_t i = 0; i < half.size(); ++i) {
      EXPECT_NEAR(half[i], single[i], 0.02) << type;
    }
    EXPECT_EQ(contains(out, "loss scale: 1024.0"), std::string(type) == "--fp16");
  }
}

TEST_F(PretrainGpt, ExplainsItselfWholeOrByGroup) {
  const std::string whole = train({"pretrain-gpt", "--help"});
  const std::string group = train({"pretrain-gpt", "--help-network-size"});
  EXPECT_TRUE(contains(whole, "--num-layers") && contains(whole, "--lr "));
  EXPECT_TRUE(contains(group, "--num-layers"));
  EXPECT_FALSE(contains(group, "--lr "));
  expect_refused({"pretrain-gpt", "--help-networks"}, 2, "network-size");
}

TEST_F(PretrainGpt, TheSmallestRunOfTheHelpRuns) {
  const std::string help = train({"pretrain-gpt", "--help"});
  const std::size_t begin = help.find("  mpitron pretrain-gpt");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream text(help.substr(begin, help.find("\n\n", begin) - begin));
  Words words;
  for (std::string word; text >> word;) {
    if (word != "mpitron" && word != "\\") {
      words.push_back(word);
    }
  }
  EXPECT_EQ(losses(train(words + Words{"--log-interval", "50"})).size(), 2U);
}

TEST_F(PretrainGpt, ExitIntervalEndsTheRunThere) {
  const std::string out = train(kTinyMock + Words{"--exit-interval", "3"});
  EXPECT_EQ(losses(out).size(), 3U);
  EXPECT_TRUE(contains(out, "exiting program at iteration 3")) << out;
  EXPECT_FALSE(contains(out, "on test set"));
}

TEST_F(PretrainGpt, SignalsEndTheRunAfterAnIteration) {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    RunningProgram program(folder_.path(), kTinyModel + Words{"--mock-data", "--train-iters",
                                                              "1000000", "--exit-signal-handler"});
    ASSERT_TRUE(program.wait_for_output("lm loss"));
    program.signal(signal);
    const Finished finished = program.wait_for_end();
    EXPECT_EQ(finished.code, 86) << finished.err;  // interrupted, nothing could be saved
    EXPECT_TRUE(contains(finished.out, "exiting program after receiving SIG")) << finished.err;
  }
}

TEST_F(PretrainGpt, WithoutTheHandlerATerminationEndsItAtOnce) {
  RunningProgram program(folder_.path(),
                         kTinyModel + Words{"--mock-data", "--train-iters", "1000000"});
  ASSERT_TRUE(program.wait_for_output("lm loss"));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait_for_end().code, 128 + SIGTERM);
}

TEST_F(PretrainGpt, WritesEventsAndMetrics) {
  train(kTinyMock + Words{"--tensorboard-dir", "board"});
  int event_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "board")) {
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) {
      ++event_files;
      const std::string events = read_file(entry.path());
      EXPECT_TRUE(contains(events, "lm loss") && contains(events, "untie_embeddings"));
    }
  }
  EXPECT_EQ(event_files, 1);
  std::istringstream metrics(read_file(folder_ / "board/metrics.jsonl"));
  int training = 0, validation = 0, test = 0;
  for (std::string line; std::getline(metrics, line);) {
    training += contains(line, "\"lm loss\":") ? 1 : 0;
    validation += contains(line, "\"lm loss validation\":") ? 1 : 0;
    test += contains(line, "\"lm loss test\":") ? 1 : 0;
  }
  EXPECT_EQ(training, 4);
  EXPECT_EQ(validation, 1);
  EXPECT_EQ(test, 1);
}

TEST_F(PretrainGpt, PrintsASampleAndTheBaseline) {
  const Words flags =
      kTinyMock + Words{"--unigram-baseline", "--sample-prompt", "1 2 3", "--sample-tokens", "5"};
  const auto sample = [](const std::string& out) {
    return out.substr(std::min(out.rfind("a sample of what the model writes"), out.size()));
  };
  const std::string out = train(flags);
  EXPECT_TRUE(contains(out, "best unigram model of the validation tokens | lm loss value: "));
  EXPECT_TRUE(contains(sample(out), "writes:\n\n1 2 3 ")) << out;
  EXPECT_EQ(sample(train(flags)), sample(out));
}

TEST_F(PretrainGpt, RefusesWhatCannotBeTrained) {
  const Words iterations = {"--train-iters", "2"};
  expect_refused(kTinyModel + iterations, 2, "--mock-data");
  expect_refused(kTinyModel + iterations + Words{"--data-path", "absent"}, 4, "absent");
  expect_refused(kTinyMock + Words{"--pipeline-model-parallel-size", "2"}, 2, "ranks_divide");
  expect_refused(kTinyMock + Words{"--init-model-with-meta-device"}, 2,
                 "--init-model-with-meta-device");
  expect_refused(kTinyMock + Words{"--hiden-size", "32"}, 2, "--hidden-size");
  expect_refused(kTinyMock + Words{"--device", "abacus"}, 2, "abacus");
  expect_refused(kTinyMock + Words{"--profile", "--profile-dir", "/proc/x"}, 4, "--profile-dir");
}

TEST_F(PretrainGpt, RefusesTokenizerFilesThatDoNotFit) {
  write_bytes(folder_ / "vocab.json", R"({"a": 0, "b": 1})");
  write_bytes(folder_ / "merges.txt", "a b c\n");
  const Words bpe = {"--tokenizer-type", "GPT2BPETokenizer", "--merge-file", "merges.txt"};
  expect_refused(kTinyMock + bpe + Words{"--vocab-file", "absent.json"}, 4, "absent.json");
  expect_refused(kTinyMock + bpe + Words{"--vocab-file", "vocab.json"}, 4, "vocab.json");
  write_bytes(folder_ / "vocab.json", "{\"a\": ");
  expect_refused(kTinyMock + bpe + Words{"--vocab-file", "vocab.json"}, 4, "vocab.json");
}

TEST_F(PretrainGpt, ReadsYamlAndFlagsWin) {
  write_bytes(folder_ / "run.yaml", "train_iters: 2\nhidden_size: 64\nmock_data: true\n");
  const Words yaml = kTinyModel + Words{"--yaml-cfg", "run.yaml"};
  const std::string out = train(yaml);
  EXPECT_EQ(losses(out).size(), 2U);
  EXPECT_EQ(losses(train(yaml + Words{"--train-iters", "3"})).size(), 3U);
  write_bytes(folder_ / "run.yaml", "train_iters: [2\n");
  expect_refused(yaml, 2, "run.yaml");
  expect_refused(kTinyModel + Words{"--yaml-cfg", "absent.yaml"}, 2, "absent.yaml");
}

TEST_F(PretrainGpt, TrainsOnFilesWithDocumentsLongerThanTheSequence) {
  write_ids(folder_ / "ids.jsonl", 40, 100);
  ASSERT_EQ(preprocess_ids(folder_, "ids.jsonl", "ids").code, 0);
  const Words flags =
      kTinyModel + Words{"--data-path", "ids_text_document", "--split", "8,1,1", "--train-iters",
                         "60",          "--data-cache-path", "cache"};
  const std::vector<double> curve = losses(train(flags));
  ASSERT_EQ(curve.size(), 60U);
  EXPECT_NEAR(curve.front(), std::log(128), 0.3);  // 64 ids padded to 128
  EXPECT_LT(curve.back(), curve.front() - 0.5);    // the text is periodic: easily learned
}

TEST_F(PretrainGpt, LearnsATextAndWritesItBack) {
  write_ids(folder_ / "ids.jsonl", 40, 100);  // every id is followed by the one 3 further
  ASSERT_EQ(preprocess_ids(folder_, "ids.jsonl", "ids").code, 0);
  const std::string out = train(
      kTinyModel + Words{"--data-path", "ids_text_document", "--split", "8,1,1", "--train-iters",
                         "150", "--lr", "1e-2", "--sample-prompt", "5 8 11", "--sample-tokens", "6",
                         "--sample-temperature", "0", "--log-interval", "50"});
  EXPECT_LT(losses(out).back(), 0.5);
  EXPECT_TRUE(contains(out, "writes:\n\n5 8 11 14 17 20 23 26 29\n")) << out;
}

/// Two turns each; the answer is learned, the question is not.
TEST_F(PretrainGpt, LearnsFromConversations) {
  const std::filesystem::path family = tokenizers::families_folder() / "hf_qwen2";
  std::filesystem::create_directory(folder_ / "chat");
  std::filesystem::copy(family / "tokenizer.json", folder_ / "chat/tokenizer.json");
  const std::string config = R"({"eos_token": "<|im_end|>")";
  write_bytes(folder_ / "chat/tokenizer_config.json",
              config + R"(, "pad_token": "<|endoftext|>"})");
  std::string lines;
  for (int i = 0; i < 30; ++i) {
    lines += R"({"messages": [{"role": "user", "content": "go"}, )"
             R"({"role": "assistant", "content": "and so on"}]})"
             "\n";
  }
  write_bytes(folder_ / "talk.jsonl", lines);
  const Words flags = kTinyModel + Words{"--seq-length",
                                         "32",
                                         "--max-position-embeddings",
                                         "32",
                                         "--tokenizer-type",
                                         "SFTTokenizer",
                                         "--tokenizer-model",
                                         "chat",
                                         "--sft-tokenizer-prompt-format",
                                         "chatml",
                                         "--sft",
                                         "--data-path",
                                         "talk.jsonl",
                                         "--split",
                                         "8,1,1",
                                         "--lr",
                                         "1e-2",
                                         "--train-iters",
                                         "30"};
  const std::vector<double> curve = losses(train(flags));
  ASSERT_EQ(curve.size(), 30U);
  EXPECT_NEAR(curve.front(), std::log(1024), 0.5);  // 903 tokens padded to 1024
  EXPECT_LT(curve.back(), 2.0);
  write_bytes(folder_ / "chat/tokenizer_config.json", config + "}");
  expect_refused(flags, 2, "no token for padding");
  expect_refused(flags + Words{"--tokenizer-type", "NullTokenizer"}, 2, "SFTTokenizer");
}

TEST_F(PretrainGpt, ASplitThatGivesTrainingNothingIsRefused) {
  write_ids(folder_ / "ids.jsonl", 40, 100);
  ASSERT_EQ(preprocess_ids(folder_, "ids.jsonl", "ids").code, 0);
  expect_refused(kTinyModel + Words{"--data-path", "ids_text_document", "--split", "0,1,1",
                                    "--train-iters", "2"},
                 2, "--split gives the training set nothing");
}

TEST_F(PretrainGpt, TwoRunsBuildOneIndexCacheAtOnce) {
  write_ids(folder_ / "ids.jsonl", 200, 50);
  ASSERT_EQ(preprocess_ids(folder_, "ids.jsonl", "ids").code, 0);
  const Words flags =
      kTinyModel + Words{"--data-path", "ids_text_document", "--split", "8,1,1", "--train-iters",
                         "4",           "--data-cache-path", "cache"};
  const Words alone =
      result_lines(train(kTinyModel + Words{"--data-path", "ids_text_document", "--split", "8,1,1",
                                            "--train-iters", "4", "--data-cache-path", "other"}));
  RunningProgram first(folder_.path(), flags), second(folder_.path(), flags);
  EXPECT_EQ(result_lines(first.wait_for_end().out), alone);
  EXPECT_EQ(result_lines(second.wait_for_end().out), alone);
  EXPECT_EQ(result_lines(train(flags)), alone);  // and from the finished cache
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

TEST_F(PretrainGpt, Bf16NeedsNoAvx512) {
  const std::string out =
      train(kTinyMock + Words{"--bf16"}, {.variables = {{"ONEDNN_MAX_CPU_ISA", "AVX2"}}});
  EXPECT_EQ(losses(out).size(), 4U);
}

}  // namespace pretrain_gpt_test
}  // namespace mpitron::cli
