#include <algorithm>

#include <gtest/gtest.h>

#include "support/drawn_images.h"
#include "support/temporary_folder.h"
#include "train/parity/recorded_batches.h"
#include "utils/error.h"

namespace mpitron::train {
namespace recorded_vision_test {

constexpr const char* kDims =
    R"({"dims": {"layers": 2, "hidden": 32, "heads": 4, "img": 32, "patch": 8, "gbs": 4, "mbs": 2,
    "iters": 6, "lr": 0.002, "min_lr": 0.0002, "warmup": 2, "wd": 0.1, "clip": 1.0, "kind": "KIND",
    "classes": 10}})";

std::string with_kind(const std::string& kind) {
  std::string text = kDims;
  return text.replace(text.find("KIND"), 4, kind);
}

TEST(RecordedVision, SizesBecomeFlags) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "config.json", with_kind("classify"));
  const std::vector<std::string> flags = vision_flags(folder / "config.json");
  const auto value = [&](const char* flag) { return *(std::ranges::find(flags, flag) + 1); };
  EXPECT_EQ(value("--num-layers"), "2");
  EXPECT_EQ(value("--lr"), "0.002");
  EXPECT_EQ(value("--num-classes"), "10");
  EXPECT_EQ(value("--vision-pretraining-type"), "classify");
}

TEST(RecordedVision, OtherKindsAreNamed) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "config.json", with_kind("swin"));
  EXPECT_THROW(vision_flags(folder / "config.json"), Error);
  test::write_file(folder / "config.json", "{}");
  EXPECT_THROW(vision_flags(folder / "config.json"), Error);
}

TEST(RecordedVision, NamesAreTheReferences) {
  EXPECT_EQ(vision_name("backbone.transformer.layers.1.self_attention.linear_qkv.bias"),
            "backbone.transformer.layers.1.self_attention.query_key_value.bias");
  EXPECT_EQ(vision_name("backbone.transformer.final_layernorm.weight"),
            "backbone.transformer.final_norm.weight");
  EXPECT_EQ(vision_name("head.dense_in.weight"), "head.dense_in.weight");
}

}  // namespace recorded_vision_test
}  // namespace mpitron::train
