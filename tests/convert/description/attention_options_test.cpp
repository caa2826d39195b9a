#include <gtest/gtest.h>

#include "convert/description/stored_options.h"

namespace mpitron::convert {
namespace attention_options_test {

config::ModelConfig read(const std::string& text) {
  config::ModelConfig model;
  read_attention(StoredOptions(text, "x"), model);
  return model;
}

TEST(AttentionOptions, LatentAttentionHasYarnUnlessSaidOtherwise) {
  EXPECT_EQ(read(R"({"multi_latent_attention": true})").rope_type, config::RopeType::yarn);
  EXPECT_EQ(read(R"({"multi_latent_attention": true, "rope_type": "rope"})").rope_type,
            config::RopeType::rope);
  EXPECT_EQ(read("{}").rope_type, config::RopeType::rope);
}

TEST(AttentionOptions, OnlyThoseThatMatterAreWritten) {
  JsonObject plain, relative;
  write_attention(read("{}"), plain);
  EXPECT_FALSE(plain.has("relative_attention_num_buckets"));
  EXPECT_FALSE(plain.has("kv_lora_rank"));
  write_attention(read(R"({"position_embedding_type": "relative",
                           "relative_attention_num_buckets": 16})"),
                  relative);
  EXPECT_EQ(relative.text("position_embedding_type"), "relative");
  EXPECT_EQ(relative.size("relative_attention_num_buckets"), 16);
}

}  // namespace attention_options_test
}  // namespace mpitron::convert
