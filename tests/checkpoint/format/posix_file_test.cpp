#include "checkpoint/format/posix_file.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/temporary_folder.h"

namespace mpitron::checkpoint {
namespace posix_file_test {

TEST(PosixFile, ReadsAtOffsetsWhatWasWrittenThere) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a.bin";
  std::ofstream(path) << "0123456789";
  {
    PosixFile file(path, PosixFile::Mode::modify);
    file.write(12, "end", 3);
    file.write(2, "xy", 2);
    file.sync();
  }
  const PosixFile file(path, PosixFile::Mode::read);
  EXPECT_EQ(file.size(), 15);
  std::string text(15, ' ');
  file.read(0, text.data(), 15);
  EXPECT_EQ(text, std::string("01xy456789\0\0end", 15));
}

TEST(PosixFile, MovesReplaceFilesAndTellFailures) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "a") << "new";
  std::ofstream(folder.path() / "b") << "old text";
  move_into_place(folder.path() / "a", folder.path() / "b");
  EXPECT_EQ(PosixFile(folder.path() / "b", PosixFile::Mode::read).size(), 3);
  const std::string message =
      test::message_of([&] { move_into_place(folder.path() / "a", folder.path() / "b"); });
  EXPECT_NE(message.find("rename"), std::string::npos) << message;
}

TEST(PosixFile, ErrorsNameTheFile) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "short.bin";
  EXPECT_NE(test::message_of([&] { PosixFile(path, PosixFile::Mode::read); }).find("short.bin"),
            std::string::npos);
  std::ofstream(path) << "1234";
  const PosixFile file(path, PosixFile::Mode::read);
  char bytes[8];
  EXPECT_NE(test::message_of([&] { file.read(0, bytes, 8); }).find("short.bin"), std::string::npos);
}

}  // namespace posix_file_test
}  // namespace mpitron::checkpoint
