#include <gtest/gtest.h>

#include "convert/translated.h"
#include "convert/translation.h"

namespace mpitron::convert {
namespace name_check_test {

TEST(NameCheck, ListsEverythingThatDoesNotFit) {
  Translated t("llama");
  t.model.weights.remove("model.norm.weight");
  t.model.weights.remove("model.layers.1.mlp.up_proj.weight");
  t.model.weights.add("model.layers.1.mlp.up_proj.weight", {41, 24});
  t.model.weights.add("model.layers.0.self_attn.q_norm.weight", {8});
  const NameCheck check = check_theirs(t.model.weights, t.table);
  EXPECT_EQ(check.missing, (std::vector<std::string>{"model.norm.weight"}));
  EXPECT_EQ(check.mismatched.size(), 1u);
  EXPECT_EQ(check.unmapped, (std::vector<std::string>{"model.layers.0.self_attn.q_norm.weight"}));
  EXPECT_NE(check.problems(true).find("q_norm"), std::string::npos);
  EXPECT_EQ(check.problems(false).find("q_norm"), std::string::npos);
  EXPECT_NE(check.problems(false).find("[41, 24]"), std::string::npos);
}

/// A tied matrix may be repeated; if it is not the same one, a weight would get lost.
TEST(NameCheck, RepetitionMustRepeat) {
  for (const bool same : {true, false}) {
    Translated t("qwen2");
    std::vector<float> values = test::elements("model.embed_tokens.weight", 61 * 24);
    values[7] += same ? 0 : 1;
    t.model.weights.add("lm_head.weight", {61, 24}, values);
    const NameCheck check = check_theirs(t.model.weights, t.table);
    EXPECT_EQ(check.ignored, (std::vector<std::string>{"lm_head.weight"}));
    EXPECT_EQ(check.problems(true).empty(), same) << check.problems(true);
  }
}

}  // namespace name_check_test

}  // namespace mpitron::convert
