#include "plan/search/layout_flags.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "plan/model/planned_job.h"

namespace mpitron::plan {
namespace layout_flags_test {

const std::vector<std::string> kModel = {"--num-layers",
                                         "14",
                                         "--hidden-size",
                                         "64",
                                         "--num-attention-heads",
                                         "8",
                                         "--seq-length",
                                         "64",
                                         "--micro-batch-size",
                                         "1",
                                         "--global-batch-size",
                                         "64",
                                         "--train-iters",
                                         "10",
                                         "--lr",
                                         "1e-3",
                                         "--tokenizer-type",
                                         "NullTokenizer",
                                         "--vocab-size",
                                         "63",
                                         "--mock-data",
                                         "--max-position-embeddings",
                                         "64",
                                         "--swiglu"};

TEST(LayoutFlags, AJobComesBackFromItsFlags) {
  Job job = job_of(config::parse_run(kModel).run);
  job.layout = {.gpus = 64,
                .tensor = 2,
                .pipeline = 4,
                .chunks = 2,
                .sequence_parallel = true,
                .micro_batch = 2,
                .sharding = Sharding::optimizer,
                .recompute = Recompute::full,
                .recomputed = 0.5};
  const config::ParsedRun parsed = config::parse_run(with_layout(kModel, job));
  EXPECT_TRUE(parsed.findings.empty()) << parsed.findings.front().message;
  const Layout again = job_of(parsed.run).layout;
  EXPECT_EQ(again.tensor, 2);
  EXPECT_EQ(again.pipeline, 4);
  EXPECT_EQ(again.chunks, 2);
  EXPECT_EQ(again.micro_batch, 2);
  EXPECT_EQ(again.sharding, Sharding::optimizer);
  EXPECT_EQ(again.recompute, Recompute::full);
  EXPECT_TRUE(again.sequence_parallel);
}

TEST(LayoutFlags, WhatTheUserSaidOfTheLayoutIsReplaced) {
  Job job;
  job.layout = {.gpus = 4, .tensor = 4};
  const auto words = with_layout(
      {"--tensor_model_parallel_size=8", "--lr", "1", "--recompute-granularity", "full"}, job);
  EXPECT_EQ(std::ranges::count(words, "--tensor_model_parallel_size=8"), 0);
  EXPECT_EQ(std::ranges::count(words, "full"), 0);
  EXPECT_EQ(std::ranges::count(words, "--lr"), 1);
}

TEST(LayoutFlags, AYamlFileHasFlagsNumbersAndLists) {
  EXPECT_EQ(to_yaml({"--bf16", "--lr=1e-4", "--split", "a", "b", "--world-size", "8"}),
            "bf16: true\nlr: 1e-4\nsplit: [a, b]\n");
}

}  // namespace layout_flags_test
}  // namespace mpitron::plan
