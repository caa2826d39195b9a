#include "convert/names/name_table.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "convert/model_logits.h"
#include "convert/names/hugging_face_config.h"
#include "convert/tiny_models.h"
#include "convert/translation.h"

namespace mpitron::convert {
namespace name_table_test {

ModelDescription describe(const std::string& family) {
  return read_hugging_face_config(test::reference_model(family).config, family, 8);
}

/// The table has exactly the parameters of the model, with their shapes.
TEST(NameTable, NamesEveryParameterOfTheModel) {
  for (const std::string& family : test::all_families()) {
    const ModelDescription description = describe(family);
    const NameTable table = make_name_table(family, description);
    const auto device = device::make_device("reference");
    const auto model = make_model(description.model, *device);
    std::set<std::string> names;
    for (const NameRule& rule : table.rules) {
      const autograd::Parameter* parameter = model->parameters().find(rule.ours);
      ASSERT_NE(parameter, nullptr) << family << " " << rule.ours;
      EXPECT_EQ(parameter->shape, rule.shape) << family << " " << rule.ours;
      names.insert(rule.ours);
    }
    EXPECT_EQ(names.size(), model->parameters().size()) << family;
  }
}

/// Of Qwen2-VL the language model, by the names of older and newer releases.
TEST(NameTable, LeavesAPartOut) {
  const NameTable table = make_name_table("qwen2_vl_text", describe("qwen2_vl_text"));
  EXPECT_FALSE(table.is_weight("visual.blocks.0.attn.qkv.weight"));
  EXPECT_FALSE(table.is_weight("model.visual.blocks.0.attn.qkv.weight"));
  EXPECT_TRUE(table.is_weight("audio.layers.0.weight"));
  EXPECT_EQ(table.spelled("model.norm.weight")[1], "model.language_model.norm.weight");
}

/// Qwen2-VL's language model has no prefix in their older names, and one in ours.
TEST(NameTable, AnEncoderStandsBesideWordsWithoutAPrefix) {
  const NameTable table = make_name_table("qwen2_vl", describe("qwen2_vl"));
  const auto theirs_of = [&](const std::string& ours) {
    return std::ranges::find(table.rules, ours, &NameRule::ours)->theirs.at(0).name;
  };
  EXPECT_EQ(theirs_of("language_model.embedding.word_embeddings.weight"),
            "model.embed_tokens.weight");
  EXPECT_EQ(theirs_of("vision_model.ln_post.weight"), "visual.merger.ln_q.weight");
  EXPECT_EQ(theirs_of("vision_projection.encoder.linear_fc1.weight"), "visual.merger.mlp.0.weight");
  EXPECT_EQ(table.spelled("visual.merger.ln_q.weight")[1], "model.visual.merger.ln_q.weight");
}

TEST(NameTable, ExpertsHaveNamesOfTheirOwn) {
  const NameTable table = make_name_table("deepseek_v2", describe("deepseek_v2"));
  const auto rule_for = [&](const std::string& end) {
    return *std::ranges::find_if(table.rules,
                                 [&](const NameRule& rule) { return rule.ours.ends_with(end); });
  };
  const NameRule expert = rule_for("layers.1.mlp.experts.local_experts.3.linear_fc1.weight");
  EXPECT_EQ(expert.theirs[1].name, "model.layers.1.mlp.experts.3.up_proj.weight");
  EXPECT_EQ(expert.shape, (Shape{20, 24}));
  EXPECT_EQ(rule_for("layers.0.mlp.linear_fc1.weight").shape, (Shape{80, 24})) << "dense";
}

/// Scores that are not scaled: queries are worth sqrt(d) as much here.
TEST(NameTable, ScalesQueriesWhereTheirsScaleNoScores) {
  const NameRule rule{
      .ours = "x", .shape = {2, 2}, .theirs = {{"q", 1, 2.0}, {"k", 1}}, .moves = {{0, 0, 2}}};
  test::MemorySource source;
  source.add("q", {1, 2}, {1.5, -3});
  source.add("k", {1, 2}, {5, 7});
  std::vector<HostTensor> parts;
  parts.push_back(source.read("q"));
  parts.push_back(source.read("k"));
  const HostTensor ours = join(rule, parts);
  EXPECT_EQ(test::floats_of(ours), (std::vector<float>{3, -6, 5, 7}));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(test::floats_of(take_part(rule, ours, i)), test::floats_of(parts[i]));
  }
}

TEST(NameTable, JoinsAndTakesApart) {
  for (const bool transposed : {false, true}) {
    const NameRule rule{.ours = "x",
                        .shape = {5, 2},  // the last row is padding
                        .theirs = {{"a", 1}, {"b", 3}},
                        .transposed = transposed,
                        .moves = {{1, 0, 2}, {0, 2, 1}, {3, 3, 1}}};
    test::MemorySource source;
    source.add("a", rule.shape_of(rule.theirs[0]), {1, 2});
    source.add(
        "b", rule.shape_of(rule.theirs[1]),
        transposed ? std::vector<float>{3, 5, 7, 4, 6, 8} : std::vector<float>{3, 4, 5, 6, 7, 8});
    std::vector<HostTensor> parts;
    parts.push_back(source.read("a"));
    parts.push_back(source.read("b"));
    const HostTensor ours = join(rule, parts);
    EXPECT_EQ(test::floats_of(ours), (std::vector<float>{5, 6, 1, 2, 3, 4, 7, 8, 0, 0}));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(test::floats_of(take_part(rule, ours, i)), test::floats_of(parts[i]));
    }
  }
}

TEST(NameTable, SaysWhyAFamilyCannotHoldAModel) {
  ModelDescription description = describe("gpt2");
  EXPECT_EQ(matching_model_type(description), "gpt2");
  EXPECT_EQ(matching_model_type(describe("qwen2")), "qwen2");
  EXPECT_EQ(matching_model_type(describe("mistral")), "llama") << "the same tensors";
  for (const char* family : {"mixtral", "deepseek_v2", "megatron-bert", "t5"}) {
    EXPECT_EQ(matching_model_type(describe(family)), family);
  }
  try {
    make_name_table("llama", description);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--position-embedding-type rope"), std::string::npos)
        << error.what();
  }
  ModelDescription experts = describe("deepseek_v2");
  experts.model.moe->pre_softmax = false;
  experts.model.moe->layers = {true, false};
  try {
    make_name_table("deepseek_v2", experts);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--moe-router-pre-softmax"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("dense layers in front"), std::string::npos);
  }
  description.model.qk_layernorm = true;
  EXPECT_EQ(matching_model_type(description), "");
  EXPECT_THROW(make_name_table("bloom", description), Error);
  description = describe("gpt2");
  description.vocab_size = 65;
  EXPECT_THROW(make_name_table("gpt2", description), Error);
}

}  // namespace name_table_test
}  // namespace mpitron::convert
