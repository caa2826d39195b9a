// What compressed sources of both formats do alike.

#include <gtest/gtest.h>

#include "io/compressed.h"

namespace mpitron::io {
namespace byte_source_formats_test {

class CompressedSource : public ::testing::TestWithParam<test::Compression> {};

TEST_P(CompressedSource, GivesTheSameBytesHoweverTheyArrive) {
  const std::string nul("a\0b\xff\n", 5);
  for (const std::string& text : {std::string(), std::string("a"), nul, std::string(5000, 'x')}) {
    for (const std::size_t piece : {1, 7, 100000}) {
      for (const std::size_t wanted : {1, 13, 100000}) {
        EXPECT_EQ(GetParam().read(GetParam().compress(text), piece, wanted), text);
      }
    }
  }
  EXPECT_EQ(GetParam().read(""), "");
}

TEST_P(CompressedSource, SkipsWhatIsNotWanted) {
  const std::string bytes = GetParam().compress("0123") + GetParam().compress("456789");
  const auto open = [&] {
    return GetParam().open(std::make_unique<test::SourceInPieces>(bytes, 5), "f");
  };
  const auto source = open();
  source->skip(0);
  source->skip(6);
  char next = 0;
  ASSERT_EQ(source->read(&next, 1), 1U);
  EXPECT_EQ(next, '6');
  const std::string message = test::message_of([&] { open()->skip(12); });
  EXPECT_NE(message.find("ends 2 bytes before"), std::string::npos) << message;
}

TEST_P(CompressedSource, EveryCutIsFound) {
  const std::string bytes = GetParam().compress("some text");
  const std::string cut =
      std::string("ends in the middle of its ") + GetParam().name + " data; it was cut";
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    GetParam().expect_damaged(bytes.substr(0, size), cut);
  }
  GetParam().expect_damaged(bytes + bytes.substr(0, 4),
                            "(byte " + std::to_string(bytes.size() + 4) + " of");
}

INSTANTIATE_TEST_SUITE_P(Formats, CompressedSource, ::testing::Values(test::kGzip, test::kZstd),
                         [](const auto& info) { return info.param.name; });

}  // namespace byte_source_formats_test
}  // namespace mpitron::io
