#include "checkpoint/folders/verify.h"

#include <gtest/gtest.h>

#include "checkpoint/format/posix_file.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"

namespace mpitron::checkpoint {
namespace verify_test {

TEST(Verify, NamesEachDamagedDataSetAndItsBytes) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  test::write_sample(path);
  const File file(path);
  const DataSet& first = *file.find("model/double");
  const DataSet& second = *file.find("data/bytes");
  {
    PosixFile plain(path, PosixFile::Mode::modify);
    plain.write(first.offset + first.bytes() - 1, "?", 1);
    plain.write(second.offset, "?", 1);
  }
  const Verification found = verify(file);
  ASSERT_EQ(found.damaged.size(), 2U);
  EXPECT_EQ(found.damaged[0].data_set, "model/double");
  EXPECT_EQ(found.damaged[0].offset, first.offset + first.bytes() / 2);
  EXPECT_EQ(found.damaged[0].bytes, first.bytes() / 2);
  EXPECT_EQ(found.damaged[1].sentence(), "data/bytes: bytes " + std::to_string(second.offset) +
                                             " to " + std::to_string(second.offset) +
                                             " of the file differ from what was written");
}

TEST(Verify, CountsEveryByteOnce) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  test::write_sample(path);
  const File file(path);
  Index expected = 0;
  for (const DataSet& data_set : file.data_sets()) {
    expected += data_set.bytes();
  }
  Index last = 0;
  const Verification found = verify(file, [&](Index done, Index all, double) {
    EXPECT_GT(done, last);
    EXPECT_EQ(all, expected);
    last = done;
  });
  EXPECT_EQ(last, expected);
  EXPECT_EQ(found.bytes, expected);
}

TEST(Verify, AFileThatEndsTooEarlyIsAReason) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  test::write_sample(path);
  const File file(path);
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(file.extents().back().offset));
  const Verification found = verify(file);
  ASSERT_EQ(found.damaged.size(), 1U);
  EXPECT_NE(found.damaged[0].sentence().find("truncated"), std::string::npos);
}

}  // namespace verify_test
}  // namespace mpitron::checkpoint
