#include "config/rules/constraint.h"

#include <set>

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace constraint_test {

TEST(Constraint, IdsAreUniqueSortedAndTheirOptionsExist) {
  std::set<std::string_view> names;
  std::string_view before;
  for (const Constraint& rule : all_constraints()) {
    EXPECT_LT(before, rule.id);
    before = rule.id;
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.equation.empty());
    EXPECT_FALSE(rule.why.empty());
    for (const std::string& option : split_words(rule.options)) {
      EXPECT_NE(option_index().slot_of_name(option), OptionIndex::kNotFound)
          << rule.id << " " << option;
    }
  }
  EXPECT_GT(names.size(), 60U);
}

TEST(Constraint, AllViolationsAreToldAtOnce) {
  const ParsedRun parsed = test::parse_base(
      "--hidden-size 65 --global-batch-size 7 --min-lr 1 --fp16 --bf16 --clip-grad -1");
  EXPECT_EQ(test::finding_ids(parsed),
            (std::vector<std::string>{"E014", "E030", "E044", "E048", "E054"}));
}

TEST(Constraint, NothingIsWrongWithTheBaseRun) {
  EXPECT_EQ(test::all_findings(test::parse_base("")), "no findings");
}

TEST(Constraint, AnEmptyOrAbsurdRunBreaksNoRuleBySurprise) {
  EXPECT_EQ(test::finding_ids(parse_run({})), (std::vector<std::string>{"E010", "E040", "E048"}));
  const char* zeros =
      "--num-layers 0 --hidden-size 0 --num-attention-heads 0 --seq-length 0 "
      "--max-position-embeddings 0 "
      "--micro-batch-size 0 --global-batch-size 0 --train-iters 0 --tensor-model-parallel-size 0 "
      "--pipeline-model-parallel-size 0 --context-parallel-size 0 --world-size 0 "
      "--num-query-groups 0 "
      "--group-query-attention --num-distributed-optimizer-instances 0 --no-rope-freq 0 "
      "--kv-channels 0";
  EXPECT_TRUE(test::has_finding(test::parse_text(zeros), "E011"));
}

TEST(Constraint, ExplainsRulesByIdAndByName) {
  ASSERT_TRUE(explain_rule("E017"));
  EXPECT_NE(explain_rule("E017")->find("layers_per_stage"), std::string::npos);
  EXPECT_EQ(explain_rule("E017"), explain_rule("layers_per_stage"));
  EXPECT_TRUE(explain_rule("E005"));
  EXPECT_FALSE(explain_rule("E999"));
}

}  // namespace constraint_test

}  // namespace mpitron::config
