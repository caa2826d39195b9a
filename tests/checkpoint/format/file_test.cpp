#include "checkpoint/format/file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/folders/verify.h"
#include "checkpoint/format/posix_file.h"
#include "support/contains.h"
#include "support/sample_checkpoint.h"
#include "support/temporary_folder.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::checkpoint {
namespace file_test {

using test::contains;
using test::sample_bytes;
using test::sample_data_sets;
using test::sample_header;
using test::TemporaryFolder;
using test::write_checkpoint;
using test::write_sample;

std::string error_of(const std::filesystem::path& path) {
  try {
    const File file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    return error.what();
  }
  return "";
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(File, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  write_sample(path);
  const File file(path);
  EXPECT_EQ(file.header(), sample_header());
  EXPECT_EQ(file.data_sets().size(), sample_data_sets().size());
  const std::string bytes = read_file(path);
  for (const DataSet& expected : sample_data_sets()) {
    const DataSet* found = file.find(expected.name);
    ASSERT_NE(found, nullptr) << expected.name;
    EXPECT_EQ(found->shape, expected.shape);
    EXPECT_EQ(found->dtype, expected.dtype);
    EXPECT_EQ(found->offset % 4096, 0) << found->name;
    EXPECT_EQ(bytes.substr(static_cast<std::size_t>(found->offset),
                           static_cast<std::size_t>(found->bytes())),
              sample_bytes(expected))
        << expected.name;
  }
  EXPECT_EQ(file.find("model/nothing"), nullptr);
  EXPECT_TRUE(verify(file).damaged.empty());
}

TEST(File, EqualContentsHaveEqualPlacesAndHashes) {
  const TemporaryFolder folder;
  write_sample(folder.path() / "a.h5");
  write_sample(folder.path() / "b.h5");
  const File a(folder.path() / "a.h5"), b(folder.path() / "b.h5");
  EXPECT_EQ(a.header(), b.header());
  EXPECT_EQ(a.data_sets(), b.data_sets());
  EXPECT_EQ(a.extents(), b.extents());
}

TEST(File, TravelsAsText) {
  const TemporaryFolder folder;
  write_sample(folder.path() / "a.h5");
  const File file(folder.path() / "a.h5");
  const File copy = File::deserialize(file.serialize());
  EXPECT_EQ(copy.path(), file.path());
  EXPECT_EQ(copy.header(), file.header());
  EXPECT_EQ(copy.data_sets(), file.data_sets());
  EXPECT_EQ(copy.extents(), file.extents());
  EXPECT_THROW(File::deserialize(file.serialize().substr(1)), InternalError);
}

TEST(File, HoldsLongTextsAndManyDataSets) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  Header header = sample_header();
  header.configuration = std::string(300000, 'x');
  for (int i = 0; i < 200; ++i) {
    header.integers["counter/" + std::to_string(i)] = i;
  }
  std::vector<DataSet> data_sets;
  for (int i = 0; i < 2000; ++i) {
    data_sets.push_back({.name = "model/layers." + std::to_string(i) + ".weight", .shape = {3}});
  }
  write_checkpoint(path, header, data_sets);
  const File file(path);
  EXPECT_EQ(file.header(), header);
  EXPECT_EQ(file.data_sets().size(), 2000U);
  // A page for the data and at most one and a half for what HDF5 keeps about it.
  EXPECT_LT(std::filesystem::file_size(path), 2000U * 10240);
}

TEST(File, WithoutAnyDataSet) {
  const TemporaryFolder folder;
  write_checkpoint(folder.path() / "a.h5", {}, {});
  EXPECT_EQ(File(folder.path() / "a.h5").header(), Header{});
}

TEST(File, AnUnsealedFileIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  create_file(path, sample_header(), sample_data_sets());
  EXPECT_PRED2(contains, error_of(path), "never finished");
}

TEST(File, SealingWantsAllData) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  const auto data_sets = create_file(path, {}, {{.name = "a", .shape = {4}}});
  EXPECT_THROW(seal_file(path, {}), InternalError);
  EXPECT_THROW(seal_file(path, {{.offset = data_sets[0].offset, .bytes = 15}}), InternalError);
  EXPECT_THROW(seal_file(path, {{.offset = data_sets[0].offset, .bytes = 16},
                                {.offset = data_sets[0].offset, .bytes = 16}}),
               InternalError);
}

TEST(File, NamesThatWouldMeanSomethingElseAreRefused) {
  const TemporaryFolder folder;
  for (const char* name :
       {"", "/a", "a/", "a//b", "./a", "a/..", "files/a", "state", "integrity/x"}) {
    EXPECT_THROW(create_file(folder.path() / "a.h5", {}, {{.name = name}}), InternalError) << name;
  }
  EXPECT_NO_THROW(create_file(folder.path() / "a.h5", {}, {{.name = "model/files"}}));
}

TEST(File, TextsThatAreNoCheckpoint) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  EXPECT_PRED2(contains, error_of(path), "No such file");
  EXPECT_PRED2(contains, error_of(folder.path()), "no regular file");
  for (const std::string& text : {std::string(), std::string("text"), std::string(100, '\0')}) {
    write_text(path, text);
    EXPECT_PRED2(contains, error_of(path), "is no mpitron checkpoint");
  }
}

TEST(File, ANewerSchemaIsNamed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  write_sample(path);
  std::string bytes = read_file(path);
  std::string seal = bytes.substr(bytes.size() - 64, 56);
  seal[8] = 9;
  const std::uint64_t check = hash64(seal);
  seal.append(reinterpret_cast<const char*>(&check), sizeof(check));
  write_text(path, bytes.replace(bytes.size() - 64, 64, seal));
  EXPECT_PRED2(contains, error_of(path), "schema version 9");
}

// Opening finds damage outside of the data, verify the rest: together every byte counts.
TEST(File, EveryFlippedByteIsFound) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  write_checkpoint(path, {.files = {{"a", "text"}}},
                   {{.name = "model/a", .shape = {5}}, {.name = "model/b", .shape = {2, 2}}});
  const std::string bytes = read_file(path);
  const File intact(path);
  const auto data_set_at = [&](std::size_t position) -> std::string {
    for (const DataSet& data_set : intact.data_sets()) {
      const auto at = static_cast<Index>(position) - data_set.offset;
      if (at >= 0 && at < data_set.bytes()) {
        return data_set.name;
      }
    }
    return "";
  };
  int in_data = 0;
  PosixFile file(path, PosixFile::Mode::modify);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char flipped = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    file.write(static_cast<Index>(i), &flipped, 1);
    const std::string name = data_set_at(i);
    if (name.empty()) {
      EXPECT_NE(error_of(path), "") << i;
    } else {
      ++in_data;
      const Verification found = verify(File(path));
      ASSERT_EQ(found.damaged.size(), 1U) << i;
      EXPECT_EQ(found.damaged[0].data_set, name);
      EXPECT_LE(found.damaged[0].offset, static_cast<Index>(i));
      EXPECT_GT(found.damaged[0].offset + found.damaged[0].bytes, static_cast<Index>(i));
    }
    file.write(static_cast<Index>(i), &bytes[i], 1);
  }
  EXPECT_EQ(in_data, 36);
  EXPECT_TRUE(verify(File(path)).damaged.empty());
}

TEST(File, EveryTruncationIsFound) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "checkpoint.h5";
  write_checkpoint(path, {}, {{.name = "model/a", .shape = {5}}});
  const auto size = std::filesystem::file_size(path);
  for (auto length = size; length-- > 0;) {
    std::filesystem::resize_file(path, length);
    EXPECT_NE(error_of(path), "") << length;
  }
  write_sample(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 1);
  EXPECT_NE(error_of(path), "");
}

}  // namespace file_test
}  // namespace mpitron::checkpoint
