#include "plan/search/layout_flags.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/planned_run.h"

namespace mpitron::plan {
namespace layout_flags_test {

TEST(LayoutFlags, ALayoutComesBackFromItsFlags) {
  const std::vector<std::string> flags = test::tiny_flags("--num-layers 14 --global-batch-size 64");
  config::RunConfig run = config::parse_run(flags).run;
  apply({.gpus = 64, .tensor = 2, .pipeline = 4, .chunks = 2, .expert_tensor = 2, .micro_batch = 2},
        run);
  run.model.recompute_granularity = config::RecomputeGranularity::full;
  run.model.recompute_method = config::RecomputeMethod::block;
  run.model.recompute_num_layers = 1;
  const config::ParsedRun parsed = config::parse_run(with_layout(flags, run));
  EXPECT_TRUE(parsed.findings.empty()) << parsed.findings.front().message;
  EXPECT_EQ(layout_of(parsed.run), layout_of(run));
  EXPECT_EQ(to_text(parsed.run), to_text(run));
  run.model.recompute_granularity = config::RecomputeGranularity::selective;
  run.model.recompute_modules = {config::RecomputeModule::layernorm, config::RecomputeModule::mlp};
  EXPECT_EQ(to_text(config::parse_run(with_layout(flags, run)).run), to_text(run));
}

TEST(LayoutFlags, WhatTheUserSaidOfTheLayoutIsReplaced) {
  config::RunConfig run;
  run.model.num_layers = 4;
  apply({.gpus = 4, .tensor = 4}, run);
  const auto words = with_layout(
      {"--tensor_model_parallel_size=8", "--lr", "1", "--recompute-granularity", "full"}, run);
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
