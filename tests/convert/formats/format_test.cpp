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
}  // namespace mpitron::convert
