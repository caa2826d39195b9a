#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "images/codecs/formats.h"
#include "utils/error.h"

// BMP files without compression, read by the layout of Windows' BITMAPINFOHEADER; other kinds are
// rare in data sets and refused.

namespace mpitron::images {
namespace {

/// Reads numbers of a file, least byte first; 0 behind its end, so that headers need no other
/// check.
class LittleEndian {
 public:
  explicit LittleEndian(Bytes file) : file_(file) {}

  Index byte(Index at) const {
    return at >= 0 && at < static_cast<Index>(file_.size())
               ? static_cast<Index>(file_[static_cast<std::size_t>(at)])
               : 0;
  }
  Index word(Index at) const { return byte(at) | byte(at + 1) << 8; }
  Index double_word(Index at) const { return word(at) | word(at + 2) << 16; }
  Index with_sign(Index at) const { return static_cast<std::int32_t>(double_word(at)); }

 private:
  Bytes file_;
};

/// Places of the parts of a file (BITMAPFILEHEADER, BITMAPINFOHEADER).
struct Layout {
  Index palette = 0, pixels = 0;
  Index width = 0, height = 0, bits = 0;
  Index colours = 0;
  bool from_the_top = false;

  Index row_bytes() const { return (width * bits + 31) / 32 * 4; }
};

Layout layout_of(const LittleEndian& file, const std::string& name) {
  constexpr Index kFileHeader = 14, kInfoHeader = 40, kNoCompression = 0, kBitFields = 3;
  const Index info = file.double_word(kFileHeader);
  const Index height = file.with_sign(22), compression = file.double_word(30);
  Layout layout{.palette = kFileHeader + info,
                .pixels = file.double_word(10),
                .width = file.with_sign(18),
                .height = std::abs(height),
                .bits = file.word(28),
                .colours = file.double_word(46),
                .from_the_top = height < 0};
  const bool usual_order = layout.bits == 32 && compression == kBitFields &&
                           file.double_word(54) == 0xFF0000 && file.double_word(58) == 0xFF00;
  if (info < kInfoHeader || (layout.bits != 8 && layout.bits != 24 && layout.bits != 32) ||
      (compression != kNoCompression && !usual_order)) {
    throw_data(
        "{}: BMP files of 8, 24 or 32 bits without compression are read, this has {} bits "
        "(compression {})",
        name, layout.bits, compression);
  }
  constexpr Index kMostColours = 256;
  layout.colours = layout.colours == 0 ? kMostColours : std::min(layout.colours, kMostColours);
  return layout;
}

}  // namespace

Image decode_bitmap(Bytes bytes, const std::string& name, Index most_pixels) {
  const LittleEndian file(bytes);
  const Layout layout = layout_of(file, name);
  check_size({layout.width, layout.height}, name, most_pixels);
  const Index needed = layout.pixels + layout.row_bytes() * layout.height;
  if (static_cast<Index>(bytes.size()) < needed) {
    throw_data("{}: the file is truncated: {} of {} bytes", name, bytes.size(), needed);
  }
  Image image(layout.width, layout.height);
  image.has_palette = layout.bits == 8;
  for (Index y = 0; y < layout.height; ++y) {
    const Index from = layout.from_the_top ? y : layout.height - 1 - y;
    const Index row = layout.pixels + from * layout.row_bytes();
    std::uint8_t* to = image.row(y);
    for (Index x = 0; x < layout.width; ++x) {
      // Blue, green, red.
      const Index colour =
          image.has_palette ? layout.palette + 4 * std::min(file.byte(row + x), layout.colours - 1)
                            : row + x * (layout.bits / 8);
      for (Index channel = 0; channel < kChannels; ++channel) {
        *to++ = static_cast<std::uint8_t>(file.byte(colour + kChannels - 1 - channel));
      }
    }
  }
  return image;
}

}  // namespace mpitron::images
