#include "convert/formats/format.h"

#include <gtest/gtest.h>

#include "convert/tiny_models.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace format_test {

TEST(Format, IsFoundOutByItsFiles) {
  EXPECT_EQ(detect_format(test::convert_data("megatron/torch")), Format::megatron_torch);
  EXPECT_EQ(detect_format(test::convert_data("megatron/dist")), Format::megatron_torch_dist);
  const test::TemporaryFolder folder;
  EXPECT_THROW(detect_format(folder.path()), Error);
  EXPECT_THROW(detect_format(folder.path() / "absent"), Error);
  test::write_hugging_face_folder(folder.path(), "gpt2");
  EXPECT_EQ(detect_format(folder.path()), Format::hugging_face);
}

TEST(Format, HasNames) {
  for (const std::string& name : format_names()) {
    EXPECT_EQ(name_of(parse_format(name, "--to-format")), name);
  }
  EXPECT_THROW(parse_format("gguf", "--to-format"), Error);
}

}  // namespace format_test

namespace checkpoint_folder_test {

namespace fs = std::filesystem;

TEST(CheckpointFolder, FollowsTheTracker) {
  const test::TemporaryFolder folder;
  const fs::path tracker = folder.path() / "latest_checkpointed_iteration.txt";
  EXPECT_EQ(iteration_folder(folder.path()), folder.path());
  EXPECT_FALSE(has_tracker(folder.path()));
  test::write_text(tracker, "123\n");
  EXPECT_EQ(iteration_folder(folder.path()), folder.path() / "iter_0000123");
  test::write_text(tracker, "release");
  EXPECT_EQ(iteration_folder(folder.path()), folder.path() / "release");
  for (const char* wrong : {"", "-1", "../x", "12a", "99999999999999999999999"}) {
    test::write_text(tracker, wrong);
    EXPECT_THROW(iteration_folder(folder.path()), Error) << wrong;
  }
  EXPECT_EQ(iteration_of("x/iter_0000123"), 123);
  EXPECT_EQ(iteration_of("x/release"), -1);
}

}  // namespace checkpoint_folder_test
}  // namespace mpitron::convert
