#include <string_view>

#include "images/codecs/formats.h"

// Reads one number of a camera's notes: how it was held. Only the first directory is looked at.

namespace mpitron::images {
namespace {

/// Numbers in the order of bytes that the file says; 0 behind the end.
struct Numbers {
  std::string_view text;
  bool big_endian;

  std::size_t at(std::size_t offset, std::size_t bytes) const {
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes && offset + bytes <= text.size(); ++i) {
      const std::size_t place = offset + (big_endian ? i : bytes - 1 - i);
      value = value << 8 | static_cast<unsigned char>(text[place]);
    }
    return value;
  }
};

}  // namespace

int exif_orientation(Bytes marker) {
  constexpr std::string_view kIntroduction("Exif\0\0", 6);
  constexpr std::size_t kOrientation = 0x0112, kEntry = 12;
  std::string_view text(reinterpret_cast<const char*>(marker.data()), marker.size());
  if (!text.starts_with(kIntroduction)) {
    return 1;
  }
  text.remove_prefix(kIntroduction.size());
  const Numbers numbers{text, text.starts_with("MM")};
  const std::size_t directory = numbers.at(4, 4), entries = numbers.at(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntry;
    if (numbers.at(entry, 2) == kOrientation) {
      const std::size_t value = numbers.at(entry + 8, 2);
      return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
  }
  return 1;
}

}  // namespace mpitron::images
