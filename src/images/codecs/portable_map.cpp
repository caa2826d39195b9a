#include <algorithm>
#include <cctype>
#include <string_view>

#include "images/codecs/formats.h"
#include "utils/error.h"

// PPM and PGM: a header of three numbers, then the bytes of pixels. The format of tests and of
// scripts without a library.

namespace mpitron::images {
namespace {

/// Reads the numbers of the header, between blanks and comments.
class Header {
 public:
  Header(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Index number() {
    skip_blanks();
    Index value = 0;
    const std::size_t begin = at_;
    constexpr std::size_t kMostDigits = 9;
    while (at_ < text_.size() && at_ < begin + kMostDigits && is_digit(text_[at_])) {
      value = 10 * value + (text_[at_++] - '0');
    }
    if (at_ == begin) {
      throw_data("{}: the header of the PPM or PGM file is damaged", name_);
    }
    return value;
  }
  /// Returns where pixels begin, behind one blank.
  std::size_t end() const { return at_ + 1; }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void skip_blanks() {
    while (at_ < text_.size() &&
           (std::isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '#')) {
      at_ = text_[at_] == '#' ? std::min(text_.find('\n', at_), text_.size()) : at_ + 1;
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 2;  // behind P5 or P6
};

}  // namespace

Image decode_portable_map(Bytes file, const std::string& name, Index most_pixels) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const Index channels = text[1] == '6' ? kChannels : 1;
  Header header(text, name);
  const Index width = header.number(), height = header.number(), largest = header.number();
  check_size({width, height}, name, most_pixels);
  if (largest != 255) {
    throw_data("{}: numbers up to {}; PPM and PGM files are read where these are 255", name,
               largest);
  }
  const std::size_t begin = std::min(header.end(), text.size());
  const auto needed = static_cast<std::size_t>(width * height * channels);
  if (text.size() - begin < needed) {
    throw_data("{}: the file is truncated: {} of {} bytes of pixels", name, text.size() - begin,
               needed);
  }
  Image image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(text[begin + (channels == 1 ? i / kChannels : i)]);
  }
  return image;
}

std::string portable_map(const Image& image) {
  std::string text =
      "P6\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n255\n";
  text.append(image.pixels.begin(), image.pixels.end());
  return text;
}

}  // namespace mpitron::images
