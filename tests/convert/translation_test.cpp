#include "convert/translation.h"

#include <gtest/gtest.h>

#include "convert/names/hugging_face_config.h"
#include "convert/tiny_models.h"

namespace mpitron::convert {
namespace translation_test {

struct Translated {
  explicit Translated(const std::string& family) : model(test::reference_model(family)) {
    description = read_hugging_face_config(model.config, family, 8);
    table = make_name_table(family, description);
  }
  test::ReferenceModel model;
  ModelDescription description;
  NameTable table;
};

TEST(Translation, ComesBackAsItWas) {
  for (const std::string& family : test::families()) {
    Translated t(family);
    ASSERT_EQ(check_theirs(t.model.weights, t.table).problems(true), "") << family;
    const auto ours = to_ours(t.model.weights, t.table);
    EXPECT_EQ(check_ours(*ours, t.table).problems(true), "");
    const auto theirs = to_theirs(*ours, t.table);
    const auto read = std::ranges::count_if(
        t.model.weights.tensors(), [&](const auto& info) { return t.table.is_weight(info.name); });
    ASSERT_EQ(theirs->tensors().size(), static_cast<std::size_t>(read) + t.table.unused.size());
    for (const TensorInfo& info : theirs->tensors()) {
      if (t.table.is_unused(info.name)) {
        continue;
      }
      EXPECT_EQ(*t.model.weights.find(info.name), info);
      EXPECT_EQ(test::floats_of(theirs->read(info.name)),
                test::floats_of(t.model.weights.read(info.name)))
          << info.name;
    }
  }
}

TEST(Translation, PadsTheVocabularyWithZeros) {
  Translated t("llama");
  const auto ours = to_ours(t.model.weights, t.table);
  const std::vector<float> words = test::floats_of(ours->read("output_layer.weight"));
  ASSERT_EQ(words.size(), 64u * 24);
  EXPECT_EQ(words[60 * 24], test::element("lm_head.weight", 60 * 24));
  EXPECT_EQ(std::count(words.begin() + 61 * 24, words.end(), 0.0f), 3 * 24);
}

/// T5's output has no bias there: one that was trained here cannot go.
TEST(Translation, WhatTheyDoNotHaveMustBeZero) {
  Translated t("t5");
  const char* name = "lm_head.output_layer.bias";
  const auto ours = to_ours(t.model.weights, t.table);
  EXPECT_EQ(test::floats_of(ours->read(name)), std::vector<float>(64));
  test::MemorySource trained;
  for (const TensorInfo& info : ours->tensors()) {
    trained.add(info.name, info.shape, test::floats_of(ours->read(info.name)));
  }
  EXPECT_EQ(check_ours(trained, t.table).problems(true), "");
  trained.remove(name);
  trained.add(name, {64});
  EXPECT_NE(check_ours(trained, t.table).problems(false).find(name), std::string::npos);
}

TEST(Translation, FirstReleasesLeaveThePrefixOut) {
  Translated t("gpt2");
  test::MemorySource old;
  for (const TensorInfo& info : t.model.weights.tensors()) {
    old.add(info.name.substr(std::string_view("transformer.").size()), info.shape,
            test::floats_of(t.model.weights.read(info.name)));
  }
  old.add("h.0.attn.bias", {1, 1, 16, 16});
  const NameCheck check = check_theirs(old, t.table);
  EXPECT_EQ(check.problems(true), "");
  EXPECT_EQ(check.ignored, (std::vector<std::string>{"h.0.attn.bias"}));
  const auto ours = to_ours(old, t.table);
  EXPECT_EQ(test::floats_of(ours->read("decoder.final_layernorm.bias")),
            test::elements("transformer.ln_f.bias", 24));
}

TEST(Translation, ListsEverythingThatDoesNotFit) {
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
TEST(Translation, RepetitionMustRepeat) {
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

}  // namespace translation_test
}  // namespace mpitron::convert
