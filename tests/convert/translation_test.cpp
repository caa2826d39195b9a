#include "convert/translation.h"

#include <gtest/gtest.h>

#include "convert/names/hugging_face_config.h"
#include "convert/tiny_models.h"
#include "convert/translated.h"

namespace mpitron::convert {
namespace translation_test {

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

/// In each mixture: the tower with and without a part in front of its layers, and one model in
/// front of the output matrix or none.
TEST(Translation, NewerReleasesNameThePartsOfALlavaInAnotherWay) {
  const test::Prefixes tower_alone = {{"vision_tower.vision_model.", "vision_tower."}};
  const test::Prefixes one_model = {{"vision_tower.", "model.vision_tower."},
                                    {"language_model.model.", "model.language_model."}};
  for (const test::Prefixes& names : {test::newer_llava_names(), tower_alone, one_model}) {
    Translated t("llava");
    test::MemorySource newer = test::renamed(t.model.weights, names);
    const NameCheck check = check_theirs(newer, t.table);
    EXPECT_EQ(check.problems(true), "");
    EXPECT_EQ(check.ignored.size(), check_theirs(t.model.weights, t.table).ignored.size());
    const auto ours = to_ours(newer, t.table), usual = to_ours(t.model.weights, t.table);
    for (const TensorInfo& info : usual->tensors()) {
      EXPECT_EQ(test::floats_of(ours->read(info.name)), test::floats_of(usual->read(info.name)))
          << info.name;
    }
  }
}

}  // namespace translation_test

}  // namespace mpitron::convert
