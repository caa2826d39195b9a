#include <gtest/gtest.h>

#include "images/codecs/formats.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::images {
namespace jpeg_test {

std::string photograph() {
  return read_file(MPITRON_SOURCE_DIR "/tests/images/files/a.jpg");
}

std::string refusal(const std::string& file) {
  try {
    decode(std::as_bytes(std::span(file)), "a.jpg");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    return error.what();
  }
}

/// The file's end, written where half of the pixels have been told.
TEST(Jpeg, PixelsThatAreMissingAreRefused) {
  const std::string whole = photograph(), half = whole.substr(0, whole.size() * 2 / 3);
  EXPECT_EQ(refusal(whole), "");
  EXPECT_EQ(refusal(half), "a.jpg: Premature end of JPEG file (libjpeg)");
  EXPECT_EQ(refusal(half + "\xFF\xD9"),
            "a.jpg: Corrupt JPEG data: premature end of data segment (libjpeg)");
}

/// As many cameras write them; PIL reads such files, too.
TEST(Jpeg, SuperfluousBytesChangeNoPixel) {
  const std::string whole = photograph();
  const std::string more = whole.substr(0, whole.size() - 2) + std::string(9, '\0') + "\xFF\xD9";
  EXPECT_EQ(refusal(more), "");
  EXPECT_EQ(decode(std::as_bytes(std::span(more)), "a").pixels,
            decode(std::as_bytes(std::span(whole)), "a").pixels);
}

}  // namespace jpeg_test
}  // namespace mpitron::images
