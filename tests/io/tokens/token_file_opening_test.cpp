#include <gtest/gtest.h>

#include "io/tokens/small_token_file.h"
#include "io/tokens/token_file.h"
#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::io {
namespace token_file_opening_test {

using test::message_of;
using test::TemporaryFolder;

TEST(TokenFileOpening, NamesTheCorruptField) {
  const TemporaryFolder folder;
  write_small(folder / "x");
  const std::string original = read_file(folder / "x.idx");
  const auto corrupt = [&](std::size_t offset, std::uint64_t value, std::size_t size) {
    std::string bytes = original;
    bytes.replace(offset, size, reinterpret_cast<const char*>(&value), size);
    test::write_bytes(folder / "x.idx", bytes);
    return message_of([&] { TokenFile(folder / "x").verify(); });
  };
  EXPECT_NE(corrupt(0, 0, 1).find("magic"), std::string::npos);
  EXPECT_NE(corrupt(9, 2, 8).find("expected version 1, found 2"), std::string::npos);
  EXPECT_NE(corrupt(17, 9, 1).find("type code"), std::string::npos);
  EXPECT_NE(corrupt(18, std::uint64_t{1} << 63, 8).find("do not fit"), std::string::npos);
  EXPECT_NE(corrupt(26, 2, 8).find("2 document indices"), std::string::npos);
  EXPECT_NE(corrupt(34 + 4, 0x80000000u, 4).find("length"), std::string::npos);
  EXPECT_NE(corrupt(34 + 12, 1000, 8).find("x.bin has 12 bytes"), std::string::npos);
  EXPECT_NE(corrupt(34 + 36 + 8, 77, 8).find("document 1"), std::string::npos);
}

TEST(TokenFileOpening, EveryTruncationIsAnError) {
  const TemporaryFolder folder;
  write_small(folder / "x");
  for (const char* name : {"x.idx", "x.bin"}) {
    write_small(folder / "x");
    for (auto size = std::filesystem::file_size(folder / name); size-- > 0;) {
      std::filesystem::resize_file(folder / name, size);
      EXPECT_NE(message_of([&] { TokenFile{folder / "x"}; }), "") << name << ' ' << size;
    }
  }
}

}  // namespace token_file_opening_test

}  // namespace mpitron::io
