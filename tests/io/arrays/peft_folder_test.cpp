#include "io/arrays/peft_folder.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::io {
namespace peft_folder_test {

class PeftFolderTest : public ::testing::Test {
 protected:
  PeftFolderTest() {
    const std::vector<SafetensorsEntry> layout{
        {"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
         ElementType::f32,
         {1, 2}},
        {"base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight",
         ElementType::f32,
         {2, 1}}};
    SafetensorsWriter writer(folder_ / "adapter_model.safetensors", layout);
    const float values[] = {1, 2, 3, 4};
    writer.write(std::as_bytes(std::span(values)));
    writer.commit();
  }
  std::string problem(const std::string& config) const {
    test::write_bytes(folder_ / "adapter_config.json", config);
    return test::message_of([&] { PeftFolder folder(folder_.path()); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(PeftFolderTest, ReadsWhatItWrites) {
  const PeftConfig config{.rank = 4,
                          .alpha = 8,
                          .dropout = 0.1,
                          .rank_stabilised = true,
                          .target_modules = {"q_proj"},
                          .rank_pattern = {{"layers.1.q_proj", 3}},
                          .alpha_pattern = {{"v_proj", 0.5}},
                          .base_model = "base"};
  test::write_bytes(folder_ / "adapter_config.json", peft_config_json(config));
  const PeftFolder folder(folder_.path());
  EXPECT_EQ(folder.config().rank, 4);
  EXPECT_EQ(folder.config().alpha, 8);
  EXPECT_EQ(folder.config().dropout, 0.1);
  EXPECT_TRUE(folder.config().rank_stabilised);
  EXPECT_EQ(folder.config().target_modules, config.target_modules);
  EXPECT_EQ(folder.config().rank_pattern, config.rank_pattern);
  EXPECT_EQ(folder.config().alpha_pattern, config.alpha_pattern);
  EXPECT_EQ(folder.config().base_model, "base");
  EXPECT_EQ(folder.modules(), std::vector<std::string>{"model.layers.0.self_attn.q_proj"});
}

TEST_F(PeftFolderTest, RefusesWhatMeansSomethingElse) {
  const auto with = [](const std::string& more) {
    return R"({"peft_type": "LORA", "r": 1, "lora_alpha": 2, "target_modules": ["q_proj"])" + more +
           "}";
  };
  EXPECT_EQ(problem(with(R"(, "use_dora": false, "modules_to_save": null, "newer": 3)")), "");
  EXPECT_NE(problem(with(R"(, "use_dora": true)")).find("use_dora"), std::string::npos);
  EXPECT_NE(problem(with(R"(, "bias": "all")")).find("\"bias\" is all"), std::string::npos);
  EXPECT_NE(problem(R"({"peft_type": "IA3"})").find("is IA3, supported is LORA"),
            std::string::npos);
  EXPECT_NE(problem(R"({"peft_type": "LORA"})").find("adapter_config.json"), std::string::npos);
  EXPECT_NE(problem("{").find("adapter_config.json"), std::string::npos);
}

}  // namespace peft_folder_test
}  // namespace mpitron::io
