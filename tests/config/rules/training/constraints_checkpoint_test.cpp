#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_checkpoint_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--save-keep-last 10", "E110", "--save-keep-last without --save"},
    {"--async-save", "E110", "--save FOLDER"},
    {"--save-file-per-writer", "E110", "--save-file-per-writer without --save"},
    {"--ckpt-step 10", "E111", "--ckpt-step without --load"},
    {"--use-checkpoint-args", "E111", "--load FOLDER"},
    {"--save a --save-interval 0", "E112", "save_interval = 0"},
    {"--save a --save-keep-last 0", "E112", "save_keep_last = 0"},
    {"--save a --save-keep-optim-last 0", "E112", "save_keep_optim_last = 0"},
    {"--save a --save-keep-optim-last 2 --no-save-optim", "E163", "--no-save-optim"},
    {"--save a --save-staging-gib 0", "E112", "save_staging_gib = 0"},
    {"--save a --save-interval 10 --save-retain-interval 25", "E113", "25 % 10 = 5"},
    {"--load a --load-main-params-from-ckpt", "E114", "--no-load-optim"},
    {"--override-opt_param-scheduler --use-checkpoint-opt_param-scheduler", "E115", "both"},
    {"--save a --non-persistent-save-interval 5", "E116", "no type"},
    {"--save a --non-persistent-ckpt-type global", "E116", "no interval"},
    {"--save a --non-persistent-ckpt-type in_memory --non-persistent-save-interval 5", "E116",
     "local"},
    {"--non-persistent-ckpt-type global --non-persistent-save-interval 5", "E116", "--save FOLDER"},
    {"--save a --non-persistent-ckpt-type local --non-persistent-save-interval 5", "E116",
     "--non-persistent-local-ckpt-dir"},
    {"--replication-jump 1", "E117", "without --replication"},
    {"--replication --replication-jump 1", "E117", "--non-persistent-ckpt-type local"},
};

TEST(CheckpointConstraints, EachRuleIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(CheckpointConstraints, EveryRuleHasAnExample) {
  test::expect_examples(checkpoint_constraints(), kBroken);
}

TEST(CheckpointConstraints, UsualFlagsBreakNone) {
  for (const char* flags :
       {"--save a --save-interval 10 --save-retain-interval 100 --load a --async-save "
        "--save-file-per-writer",
        "--pretrained-checkpoint a --finetune", "--load a --no-load-optim --ckpt-step 3",
        "--load a --load-main-params-from-ckpt --no-load-optim",
        "--save a --non-persistent-ckpt-type global --non-persistent-save-interval 5",
        "--load a --ckpt-convert-format torch_dist --ckpt-convert-save b",
        "--num-experts 4 --disable-bias-linear --moe-use-upcycling --load a --save b "
        "--moe-upcycling-granularity 2"}) {
    const ParsedRun parsed = test::parse_base(flags);
    EXPECT_TRUE(parsed.findings.empty()) << flags << "\n" << test::all_findings(parsed);
  }
}

TEST(CheckpointConstraints, StrictnessIsWhatTheUserSaysElseNothingMayDiffer) {
  EXPECT_EQ(test::parse_base("").run.checkpoint.dist_ckpt_strictness, "raise_all");
  EXPECT_EQ(test::parse_base("--dist-ckpt-strictness assume_ok_unexpected")
                .run.checkpoint.dist_ckpt_strictness,
            "assume_ok_unexpected");
}

}  // namespace constraints_checkpoint_test
}  // namespace mpitron::config
