#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "checkpoint/folders/verify.h"
#include "checkpoint/format/seal.h"
#include "checkpoint/format/written_files.h"
#include "support/contains.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace writer_files_test {

using test::contains;

TEST_F(WriterFilesTest, GiveBackWhatWasWritten) {
  for (const Index writers : {1, 2, 5}) {
    test::write_checkpoint_per_writer(path_, test::sample_header(), test::sample_data_sets(),
                                      writers);
    const File file(path_);
    Header header = test::sample_header();
    header.schema_version = kFilePerWriterSchema;
    EXPECT_EQ(file.header(), header);
    EXPECT_FALSE(file.shared());
    EXPECT_EQ(static_cast<Index>(file.storage().files.size()), writers);
    ASSERT_EQ(file.data_sets().size(), test::sample_data_sets().size());
    for (const DataSet& expected : test::sample_data_sets()) {
      const DataSet* found = file.find(expected.name);
      ASSERT_NE(found, nullptr) << expected.name;
      EXPECT_EQ(found->shape, expected.shape);
      EXPECT_EQ(found->dtype, expected.dtype);
      EXPECT_EQ(test::stored_bytes(file, *found), test::sample_bytes(expected)) << expected.name;
    }
    EXPECT_EQ(finding(), "");
  }
}

TEST_F(WriterFilesTest, TravelAsText) {
  test::write_sample_per_writer(path_);
  const File file(path_);
  const File copy = File::deserialize(file.serialize());
  EXPECT_EQ(copy.header(), file.header());
  EXPECT_EQ(copy.extents(), file.extents());
  EXPECT_EQ(copy.storage(), file.storage());
}

TEST_F(WriterFilesTest, TruncationsAreFound) {
  write_small();
  const auto size = std::filesystem::file_size(second_);
  for (auto length = size - 1; length > 101; length -= size - length < 100 ? 1 : 101) {
    std::filesystem::resize_file(second_, length);
    ASSERT_PRED2(contains, finding(), second_.string()) << length;
  }
}

TEST_F(WriterFilesTest, AFileThatIsMissingOrOfAnotherCheckpointIsNamed) {
  write_small();
  const std::string second = read_file(second_);
  std::filesystem::remove(second_);
  EXPECT_PRED2(contains, finding(), second_.string() + ": cannot open");
  std::filesystem::copy_file(first_, second_);
  EXPECT_PRED2(contains, finding(), second_.string() + ": belongs to another checkpoint");
  test::write_checkpoint_per_writer(path_, {}, {{.name = "model/c", .shape = {8}}});
  std::ofstream(second_, std::ios::binary) << second;
  EXPECT_PRED2(contains, finding(), second_.string() + ": belongs to another checkpoint");
}

TEST_F(WriterFilesTest, OneWritersFileIsNoCheckpoint) {
  write_small();
  try {
    const File file(first_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_PRED2(contains, error.what(), "the whole is checkpoint.h5 beside it");
  }
}

/// Gives the view's changed bytes a seal that vouches for them.
void reseal(const std::filesystem::path& path, std::string bytes) {
  std::filesystem::resize_file(path, bytes.size() - Seal::kBytes);
  PosixFile(path, PosixFile::Mode::modify)
      .write(0, bytes.data(), static_cast<Index>(bytes.size()) - Seal::kBytes);
  append_seal(path, kFilePerWriterSchema, {}, 0);
}

// Not damage but malice: tables and structures that lie under a seal that fits.
TEST_F(WriterFilesTest, LiesUnderAValidSealDoNoHarm) {
  write_small();
  const std::string intact = read_file(path_);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < intact.size() - 64; ++i) {
    if (intact[i] != 0) {
      places.push_back(i);
    }
  }
  std::mt19937_64 random(11);
  int refused = 0;
  for (int round = 0; round < 100; ++round) {
    std::string bytes = intact;
    for (std::uint64_t i = 0; i <= random() % 3; ++i) {
      bytes[places[random() % places.size()]] = static_cast<char>(random());
    }
    reseal(path_, bytes);
    refused += finding().empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 40);
}

}  // namespace writer_files_test

}  // namespace mpitron::checkpoint
