#include "checkpoint/format/stored_bytes.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace stored_bytes_test {

TEST(StoredBytes, ReadsOverTheBoundsOfFiles) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "a") << "..0123456789";
  std::ofstream(folder.path() / "b") << "abcdef";
  const Storage storage{.files = {folder.path() / "a", folder.path() / "b"},
                        .ranges = {{.begin = 0, .bytes = 4, .file = 1, .offset = 1},
                                   {.begin = 4, .bytes = 5, .file = 0, .offset = 2},
                                   {.begin = 9, .bytes = 1, .file = 1, .offset = 0}}};
  const std::string all = "bcde01234a";
  const StoredBytes stored(storage);
  for (std::size_t begin = 0; begin <= all.size(); ++begin) {
    for (std::size_t end = begin; end <= all.size(); ++end) {
      std::string read(end - begin, '?');
      stored.read(static_cast<Index>(begin), read.data(), static_cast<Index>(read.size()));
      EXPECT_EQ(read, all.substr(begin, end - begin));
    }
  }
  EXPECT_EQ(stored.hash(5, 3), hash128("123"));
  EXPECT_THROW(stored.hash(3, 2), InternalError);
  char byte = 0;
  EXPECT_THROW(stored.read(10, &byte, 1), InternalError);
}

TEST(StoredBytes, OpensMoreFilesThanItKeepsOpen) {
  const test::TemporaryFolder folder;
  Storage storage;
  for (Index i = 0; i < 300; ++i) {
    storage.files.push_back(folder.path() / std::to_string(i));
    std::ofstream(storage.files.back()) << static_cast<char>('a' + i % 26);
    storage.ranges.push_back({.begin = i, .bytes = 1, .file = i});
  }
  const StoredBytes stored(storage);
  std::string all(300, '?');
  stored.read(0, all.data(), 300);
  stored.read(0, all.data(), 300);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i], static_cast<char>('a' + i % 26));
  }
}

TEST(StoredBytes, NamesAFileThatIsNotThere) {
  const StoredBytes stored({.files = {"/nowhere/a"}, .ranges = {{.begin = 0, .bytes = 4}}});
  char byte = 0;
  try {
    stored.read(0, &byte, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_NE(std::string(error.what()).find("/nowhere/a"), std::string::npos);
  }
}

}  // namespace stored_bytes_test
}  // namespace mpitron::checkpoint
