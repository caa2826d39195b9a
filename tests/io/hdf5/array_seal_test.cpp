#include "io/hdf5/array_seal.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::io {
namespace array_seal_test {

constexpr SealedRanges kRanges{{{.begin = 6, .bytes = 2}, {.begin = 1, .bytes = 3}, {}, {}, {}}};

TEST(ArraySeal, HashesWhatIsInNoArray) {
  const auto hash = hash_metadata("0aaa45bb8", kRanges);
  ASSERT_TRUE(hash.has_value());
  EXPECT_EQ(hash_metadata("0xyz45uv8", kRanges), hash);
  EXPECT_NE(hash_metadata("1aaa45bb8", kRanges), hash);
}

TEST(ArraySeal, ArraysNeitherOverlapNorLieOutside) {
  SealedRanges ranges = kRanges;
  ranges[1].bytes = 6;
  EXPECT_FALSE(hash_metadata("0aaa45bb8", ranges).has_value());
  EXPECT_FALSE(hash_metadata("0aaa45b", kRanges).has_value());
}

TEST(ArraySeal, AFileWithoutASealIsRefused) {
  const test::TemporaryFolder folder;
  test::write_bytes(folder / "x", std::string(200, 'x'));
  const SealedFormat format{
      .magic = "MPITHING", .content = "things", .writer = "a test", .names = {}};
  const std::string message =
      test::message_of([&] { read_seal(MappedFile(folder / "x"), format); });
  EXPECT_NE(message.find("expected the seal of things"), std::string::npos) << message;
}

}  // namespace array_seal_test
}  // namespace mpitron::io
