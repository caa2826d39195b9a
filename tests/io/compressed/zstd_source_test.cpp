#include <gtest/gtest.h>

#include "io/compressed.h"

namespace mpitron::io {
namespace zstd_source_test {

using test::kZstd, test::zstd;

// Exactly as much is wanted as a block or a frame holds: nothing is left inside.
TEST(ZstdSource, OutputThatIsJustFull) {
  const std::string text(std::size_t{1} << 18, 'y');
  for (const std::size_t wanted : {std::size_t{1} << 17, text.size()}) {
    EXPECT_EQ(kZstd.read(zstd(text) + zstd(text), 1 << 20, wanted), text + text);
  }
}

TEST(ZstdSource, FramesMayBeEmptyOrSkippable) {
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string frames =
      skippable + zstd("one ") + zstd("") + skippable + zstd("two") + skippable;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, frames.size()}) {
    EXPECT_EQ(kZstd.read(frames, piece), "one two");
  }
}

TEST(ZstdSource, SaysWhatIsDamaged) {
  const std::string bytes = zstd("some text");
  std::string checksum = bytes;
  checksum.back() ^= 1;
  kZstd.expect_damaged(checksum, "checksum");
  kZstd.expect_damaged("garbage garbage", "Unknown frame descriptor");
  kZstd.expect_damaged(bytes + "garbage", "Unknown frame descriptor");
}

}  // namespace zstd_source_test
}  // namespace mpitron::io
