#include "images/codecs/decode.h"

#include <gtest/gtest.h>

#include "images/codecs/formats.h"
#include "support/fuzz.h"
#include "utils/system/files.h"

namespace mpitron::images {
namespace decode_test {

Image drawn(Index width, Index height) {
  Image image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(i * 7);
  }
  return image;
}

Image decoded(const std::string& file, const std::string& name = "x") {
  return decode(std::as_bytes(std::span(file)), name);
}

std::string refusal(const std::string& file) {
  try {
    decoded(file, "folder/x.jpg");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::data);
    return error.what();
  }
  return "";
}

TEST(Decode, OtherFilesAreNamed) {
  EXPECT_EQ(refusal(""), "folder/x.jpg: the file is empty");
  EXPECT_NE(refusal("<svg xmlns=''/>").find("a drawing (SVG)"), std::string::npos);
  EXPECT_NE(refusal("II*").find("TIFF"), std::string::npos);
  EXPECT_NE(refusal("hello").find("something else"), std::string::npos);
  EXPECT_NE(refusal("P6 4 4 255 abc").find("truncated"), std::string::npos);
  EXPECT_NE(refusal("P6 4 4 65535 abc").find("65535"), std::string::npos);
  EXPECT_NE(refusal("P6 0 4 255 abc").find("0 x 4 pixels"), std::string::npos);
}

TEST(Decode, ABombIsRefusedByItsSizeBeforeMemoryIsTaken) {
  EXPECT_NE(refusal("P6 99999999 99999999 255 ").find("more than the 178956970"),
            std::string::npos);
}

/// Two rows of two pixels from below, as BMP has them.
std::string bitmap() {
  std::string file("BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0\2\0\0\0\1\0\x18\0", 30);
  file.append(24, '\0');
  return file + "abcdef..ghijkl..";
}

TEST(Fuzz, DamagedImagesAreReadOrRefused) {
  EXPECT_EQ(decoded(bitmap()).width, 2);
  std::vector<std::string> files{portable_map(drawn(7, 5)), bitmap()};
  for (const char* name : {"a.jpg", "a.png", "palette.png", "cmyk.jpg", "a.webp"}) {
    files.push_back(read_file(std::string(MPITRON_SOURCE_DIR "/tests/images/files/") + name));
  }
  test::fuzz(files, test::FuzzLength::of_ci(2000), [](const std::string& file) {
    const Image image = decoded(file);
    EXPECT_EQ(image.pixels.size(), static_cast<std::size_t>(image.width * image.height * 3));
  });
}

}  // namespace decode_test
}  // namespace mpitron::images
