#include "utils/system/files.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron {
namespace files_test {

using test::TemporaryFolder;
using test::write_bytes;

template <class Action>
void expect_data_error(Action&& action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "nothing thrown, expected " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\n", 4);
  write_bytes(folder / "x", bytes);
  const MappedFile file(folder / "x");
  EXPECT_EQ(file.text(), bytes);
  EXPECT_EQ(file.bytes().size(), 4U);
  EXPECT_EQ(file.path(), folder / "x");
  EXPECT_EQ(read_file(folder / "x"), bytes);
}

TEST(MappedFile, AnEmptyFileIsEmpty) {
  const TemporaryFolder folder;
  write_bytes(folder / "x", "");
  EXPECT_TRUE(MappedFile(folder / "x").bytes().empty());
  EXPECT_EQ(read_file(folder / "x"), "");
}

TEST(MappedFile, MovesItsMapping) {
  const TemporaryFolder folder;
  write_bytes(folder / "x", "first");
  write_bytes(folder / "y", "second");
  MappedFile a(folder / "x");
  MappedFile b(std::move(a));
  EXPECT_EQ(b.text(), "first");
  b = MappedFile(folder / "y");
  EXPECT_EQ(b.text(), "second");
  EXPECT_EQ(b.path(), folder / "y");
}

TEST(MappedFile, NamesWhatItCannotRead) {
  const TemporaryFolder folder;
  expect_data_error([&] { MappedFile(folder / "absent"); }, folder / "absent");
  expect_data_error([&] { MappedFile{std::filesystem::path(folder.path())}; }, folder.path());
  expect_data_error([&] { read_file(folder / "absent"); }, "cannot open");
}

}  // namespace files_test
}  // namespace mpitron
