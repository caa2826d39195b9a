#include <gtest/gtest.h>

#include "convert/formats/hugging_face_folder.h"
#include "support/temporary_folder.h"
#include "utils/system/files.h"

namespace mpitron::convert {
namespace forget_pages_test {

TEST(ForgetPages, WhatIsForgottenIsReadAgain) {
  const test::TemporaryFolder folder;
  const std::string text(100'000, 'x');
  AtomicFile out(folder.path() / "file");
  out.write(text);
  out.commit();
  const MappedFile file(folder.path() / "file");
  forget_pages(file.bytes().subspan(100, 90'000));
  forget_pages(file.bytes().subspan(5, 7));
  forget_pages({});
  EXPECT_EQ(file.text(), text);
}

}  // namespace forget_pages_test
}  // namespace mpitron::convert
