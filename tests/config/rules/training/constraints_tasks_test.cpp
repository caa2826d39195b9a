#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_tasks_test {

constexpr test::RuleCase kBroken[] = {
    {"--epochs 2", "E330", "epochs without --task"},
    {"--task MNLI", "E330", "no --train-data"},
    {"--task RTE --epochs 0", "E330", "no --valid-data"},
    {"--task RTE --train-data a.tsv --sft", "E331", "--sft"},
};

TEST(TaskConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
  test::expect_examples(task_constraints(), kBroken);
}

TEST(TaskConstraints, LegalNeighboursPass) {
  for (const char* flags : {"--task MNLI --train-data a.tsv --valid-data b.tsv --epochs 2",
                            "--task RTE --epochs 0 --valid-data b.tsv --predictions-path said"}) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_tasks_test
}  // namespace mpitron::config
