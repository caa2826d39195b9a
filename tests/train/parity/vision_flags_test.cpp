#include <algorithm>

#include <gtest/gtest.h>

#include "support/drawn_images.h"
#include "support/temporary_folder.h"
#include "train/parity/recorded_batches.h"
#include "utils/error.h"

namespace mpitron::train {
namespace vision_flags_test {

constexpr const char* kDims =
    R"({"dims": {"layers": 2, "hidden": 32, "heads": 4, "img": 32, "patch": 8, "gbs": 4, "mbs": 2,
    "iters": 6, "lr": 0.002, "min_lr": 0.0002, "warmup": 2, "wd": 0.1, "clip": 1.0, "kind": "KIND",
    "classes": 10}})";

std::string with_kind(const std::string& kind) {
  std::string text = kDims;
  return text.replace(text.find("KIND"), 4, kind);
}

TEST(VisionFlags, SizesBecomeFlags) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "config.json", with_kind("classify"));
  const std::vector<std::string> flags = vision_flags(folder / "config.json");
  const auto value = [&](const char* flag) { return *(std::ranges::find(flags, flag) + 1); };
  EXPECT_EQ(value("--num-layers"), "2");
  EXPECT_EQ(value("--lr"), "0.002");
  EXPECT_EQ(value("--num-classes"), "10");
  EXPECT_EQ(value("--vision-pretraining-type"), "classify");
}

TEST(VisionFlags, OtherKindsAreNamed) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "config.json", with_kind("swin"));
  EXPECT_THROW(vision_flags(folder / "config.json"), Error);
  test::write_file(folder / "config.json", "{}");
  EXPECT_THROW(vision_flags(folder / "config.json"), Error);
}

}  // namespace vision_flags_test

}  // namespace mpitron::train
