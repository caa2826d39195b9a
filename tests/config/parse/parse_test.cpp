#include "config/parse/parse.h"

#include <chrono>

#include <gtest/gtest.h>

#include "config/flags.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::config {
namespace parse_test {

using test::finding_ids;
using test::parse_base;
using test::parse_text;

TEST(Parse, WordsAndRulesAreToldTogether) {
  const ParsedRun parsed = parse_base(
      "--num-layer 3 --lr fast --batch-size 4 --hidden-size 65 --num-experts 8 "
      "--moe-enable-deepep --moe-shared-expert-intermediate-size 8");
  EXPECT_EQ(finding_ids(parsed),
            (std::vector<std::string>{"E001", "E002", "E004", "E005", "E014", "E096"}))
      << test::all_findings(parsed);
}

TEST(Parse, NoRuleTellsOfWhatCouldNotBeRead) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(finding_ids(parse_run({"--num-layers", "two", "--train-iters", "1", "--lr", "1"})),
            std::vector<std::string>{"E002"});
  EXPECT_EQ(finding_ids(parse_run({"--yaml-cfg", folder.path() / "none.yaml"})),
            std::vector<std::string>{"E007"});
}

TEST(Parse, TheLastOfARepeatedOptionCounts) {
  const ParsedRun parsed =
      parse_base("--seed 1 --seed nonsense --seed 3 --data-path a b --data-path c");
  EXPECT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_EQ(parsed.run.training.seed, 3);
  EXPECT_EQ(parsed.run.data.data_path, std::vector<std::string>{"c"});
}

TEST(Parse, TrainingCommandsGetOneErrorWithEverything) {
  try {
    parse_run_config(
        split_words(std::string(test::kBase) + " --hidden-size 65 --global-batch-size 7"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    const std::string text = error.what();
    EXPECT_NE(text.find("2 problems"), std::string::npos);
    EXPECT_NE(text.find("E014"), std::string::npos);
    EXPECT_NE(text.find("E044"), std::string::npos);
  }
  EXPECT_EQ(parse_run_config(split_words(test::kBase)).model.num_layers, 4);
}

TEST(Parse, TheNumberOfRanksSetsTheReplicas) {
  const ParsedRun parsed = parse_run(split_words(test::kBase), 4);
  EXPECT_EQ(parsed.run.parallel.data_parallel_size, 4);
  EXPECT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_EQ(finding_ids(parse_run(split_words(test::kBase), 3)), std::vector<std::string>{"E044"});
}

/// Flags of the GPT runs that the documentation of the reference shows (2025), and of its 345M and
/// 175B scripts.
constexpr const char* kScripts[] = {
    "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
    "--max-position-embeddings 1024 --fp16 "
    "--vocab-file gpt2-vocab.json --tokenizer-type GPT2BPETokenizer --merge-file gpt2-merges.txt "
    "--load checkpoints/x "
    "--micro-batch-size 8 --log-interval 10 --no-load-optim --no-load-rng --train-iters 10 --lr "
    "1e-4",
    "--num-layers 96 --hidden-size 12288 --num-attention-heads 96 --seq-length 2048 "
    "--max-position-embeddings 2048 "
    "--attention-backend auto --micro-batch-size 1 --global-batch-size 1536 --rampup-batch-size 16 "
    "16 5859375 "
    "--train-samples 146484375 --weight-decay 0.1 --adam-beta1 0.9 --adam-beta2 0.95 "
    "--init-method-std 0.006 "
    "--clip-grad 1.0 --fp16 --lr 6.0e-5 --lr-decay-style cosine --min-lr 6.0e-6 "
    "--lr-warmup-samples 183105 "
    "--lr-decay-samples 126953125 --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16 "
    "--world-size 1024 "
    "--data-path my-gpt2_text_document --vocab-file v --merge-file m --split 949,50,1 "
    "--log-interval 100 "
    "--save-interval 10000 --eval-interval 1000 --save c --load c --eval-iters 10 "
    "--tensorboard-dir t",
    "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 "
    "--max-position-embeddings 1024 "
    "--micro-batch-size 4 --global-batch-size 8 --train-iters 500000 --lr 0.00015 --lr-decay-iters "
    "320000 "
    "--lr-decay-style cosine --min-lr 1.0e-5 --weight-decay 1e-2 --lr-warmup-fraction .01 "
    "--clip-grad 1.0 --bf16 "
    "--data-path my-gpt2_text_document --vocab-file v --merge-file m --split 949,50,1 "
    "--log-interval 100 "
    "--eval-interval 1000 --eval-iters 10 --use-flash-attn "
    "--overlap-grad-reduce "
    "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1 "
    "--distributed-backend nccl",
    "--use-mcore-models --num-layers 32 --hidden-size 4096 --ffn-hidden-size 11008 "
    "--num-attention-heads 32 "
    "--seq-length 4096 --max-position-embeddings 4096 --position-embedding-type rope --rotary-base "
    "1000000 "
    "--rotary-percent 1.0 --normalization RMSNorm --swiglu --disable-bias-linear "
    "--untie-embeddings-and-output-weights --no-masked-softmax-fusion --init-method-std 0.01 "
    "--attention-dropout 0.0 "
    "--hidden-dropout 0.0 --group-query-attention --num-query-groups 8 --micro-batch-size 1 "
    "--global-batch-size 128 "
    "--train-iters 100 --lr 1e-4 --bf16 --manual-gc --no-async-tensor-model-parallel-allreduce",
};

TEST(Parse, ScriptsOfTheReferenceAreUnderstood) {
  for (const char* script : kScripts) {
    for (const Finding& finding : parse_text(script).findings) {
      const bool checkpoint_or_layout = finding.id == ids::kNotYet;
      EXPECT_TRUE(checkpoint_or_layout) << to_line(finding);
    }
  }
  EXPECT_TRUE(parse_text(kScripts[2]).findings.empty())
      << test::all_findings(parse_text(kScripts[2]));
  EXPECT_TRUE(parse_text(kScripts[3]).findings.empty())
      << test::all_findings(parse_text(kScripts[3]));
}

TEST(Parse, IsFast) {
  parse_text(kScripts[1]);
  const auto start = std::chrono::steady_clock::now();
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    parse_text(kScripts[1]);
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
  RecordProperty("milliseconds", std::to_string(spent.count() / kRounds));
  EXPECT_LT(spent.count() / kRounds, 30);
}

}  // namespace parse_test
}  // namespace mpitron::config
