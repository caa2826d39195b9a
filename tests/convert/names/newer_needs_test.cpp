#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/names/family_needs.h"

namespace mpitron::convert {
namespace newer_needs_test {

/// What a model of the family would need behind a change; empty where it still belongs to it.
std::string missing(const std::string& family,
                    const std::function<void(config::ModelConfig&)>& change) {
  ModelDescription description =
      read_hugging_face_config(test::with(family, {}).dump(), "config.json", 8);
  change(description.model);
  const auto found = std::ranges::find(families(), family, &Family::model_type);
  return obstacle(*found, description.model);
}

TEST(NewerNeeds, EachFamilyHasWhatItsOwnFileSays) {
  for (const char* family : {"gpt_oss", "gemma2", "gemma3_text", "llama4_text", "qwen3_next",
                             "qwen2_vl_text", "qwen2_vl", "llama4"}) {
    EXPECT_EQ(missing(family, [](auto&) {}), "") << family;
  }
}

TEST(NewerNeeds, AreToldWithTheirOption) {
  EXPECT_NE(missing("gpt_oss", [](auto& m) { m.activation_clamp = 5; }).find("clamp-value 7"),
            std::string::npos);
  EXPECT_NE(missing("gemma2", [](auto& m) { m.query_pre_attn_scalar = 1.5; }).find("whole"),
            std::string::npos);
  EXPECT_NE(missing("gemma3_text", [](auto& m) { m.rotary_base_local.reset(); }).find("base-local"),
            std::string::npos);
  EXPECT_NE(missing("qwen2_vl", [](auto& m) { m.vlm->pixel_shuffle = false; }).find("--pixel-sh"),
            std::string::npos);
  EXPECT_NE(missing("qwen2_vl", [](auto& m) { m.vlm->tower_sizes->ffn_hidden_size = 33; })
                .find("inner width of a multiple"),
            std::string::npos);
  EXPECT_NE(missing("llama4_text", [](auto& m) { m.moe->topk = 2; }).find("--moe-router-topk 1"),
            std::string::npos);
  EXPECT_NE(
      missing("llama4", [](auto& m) { m.vlm->projector_sizes.reset(); }).find("--vision-proj"),
      std::string::npos);
  EXPECT_NE(missing("llama4", [](auto& m) { m.moe->topk = 2; }).find("--moe-router-topk 1"),
            std::string::npos);
  EXPECT_NE(missing("qwen3_next", [](auto& m) { m.scale_embeddings = true; }).find("no --scale"),
            std::string::npos);
}

}  // namespace newer_needs_test
}  // namespace mpitron::convert
