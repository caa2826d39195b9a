#include "io/tokens/growing_file.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::io {
namespace growing_file_test {

TEST(GrowingFile, GoesOnBehindTheBytesThatCount) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "x.part", "abcdef");
  GrowingFile file(folder / "x.part", folder / "x", 3);
  file.write("XY", 2);
  file.sync();
  file.rename_to(folder / "x");
  EXPECT_EQ(read_file(folder / "x"), "abcXY");
}

TEST(GrowingFile, SmallAndLargeWritesKeepTheirOrder) {
  const test::TemporaryFolder folder;
  const std::string large(100'000, 'b');
  GrowingFile file(folder / "x.part", folder / "x", 0);
  file.write("a", 1);
  file.write(large.data(), large.size());
  file.write("c", 1);
  std::string read;
  file.for_each_piece<char>(
      [&](std::span<const char> piece) { read.append(piece.data(), piece.size()); });
  EXPECT_EQ(read, "a" + large + "c");
  file.remove();
  EXPECT_FALSE(std::filesystem::exists(folder / "x.part"));
}

TEST(GrowingFile, AFileThatIsTooShortIsRefused) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "x.part", "ab");
  const std::string message =
      test::message_of([&] { GrowingFile(folder / "x.part", folder / "x", 3); });
  EXPECT_NE(message.find("holds 2 bytes, but the journal says 3"), std::string::npos) << message;
}

}  // namespace growing_file_test
}  // namespace mpitron::io
