#include "corpus/misreading.h"

#include <gtest/gtest.h>

namespace mpitron::corpus {
namespace misreading_test {

TEST(Misreading, ReadsTheCharacterThatWasMeant) {
  const Utf8Char meant = read_misread("\u00c3\u00a9t");
  EXPECT_EQ(meant.code_point, 0xE9u);
  EXPECT_EQ(meant.bytes, 4);
  EXPECT_EQ(read_misread("\u00c3").bytes, 0);  // cut off
  EXPECT_EQ(read_misread("\u00c9\u2122").bytes, 0);
}

TEST(Misreading, BytesAreThoseOfWindows1252) {
  EXPECT_EQ(byte_of(0x20AC), 0x80);
  EXPECT_EQ(byte_of(0xFF), 0xFF);
  EXPECT_EQ(byte_of(0x20AD), -1);
}

TEST(Misreading, UndoesOneRound) {
  EXPECT_EQ(undo_misreading("caf\u00c3\u00a9"), "caf\u00e9");
  EXPECT_EQ(undo_misreading("caf\u00e9"), "caf\u00e9");
}

}  // namespace misreading_test
}  // namespace mpitron::corpus
