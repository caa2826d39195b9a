#include "images/codecs/decode.h"

#include <array>
#include <string_view>

#include "images/codecs/formats.h"
#include "utils/error.h"
#include "utils/system/files.h"

// Finds an image's format by its first bytes and hands it to the decoder; others are named, so that
// a user knows what to convert.

namespace mpitron::images {
namespace {

constexpr std::array<std::string_view, 9> kExtensions{".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                      ".pgm", ".tif",  ".tiff", ".webp"};

bool is_webp(std::string_view text) {
  return text.starts_with("RIFF") && text.size() > 12 && text.substr(8, 4) == "WEBP";
}

bool is_drawing(std::string_view text) {
  return text.starts_with("<?xml") || text.starts_with("<svg");
}

bool is_tiff(std::string_view text) {
  return text.starts_with("II*") || text.starts_with("MM");
}

}  // namespace

std::span<const std::string_view> image_extensions() {
  return kExtensions;
}

void check_size(const Size& size, const std::string& name, Index most_pixels) {
  if (size.width < 1 || size.height < 1) {
    throw_data("{}: an image of {} x {} pixels", name, size.width, size.height);
  }
  if (size.width > most_pixels / size.height) {
    throw_data("{}: {} x {} pixels are more than the {} of the largest image that is decoded", name,
               size.width, size.height, most_pixels);
  }
}

Image decode(Bytes file, const std::string& name, Index most_pixels) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.empty()) {
    throw_data("{}: the file is empty", name);
  }
  if (text.starts_with("\xFF\xD8")) {
    return decode_jpeg(file, name, most_pixels);
  }
  if (text.starts_with("\x89PNG")) {
    return decode_png(file, name, most_pixels);
  }
  if (is_webp(text)) {
    return decode_webp(file, name, most_pixels);
  }
  if (text.starts_with("P5") || text.starts_with("P6")) {
    return decode_portable_map(file, name, most_pixels);
  }
  if (text.starts_with("BM")) {
    return decode_bitmap(file, name, most_pixels);
  }
  const char* found = is_drawing(text)           ? "a drawing (SVG)"
                      : is_tiff(text)            ? "TIFF"
                      : text.starts_with("GIF8") ? "GIF"
                                                 : "something else";
  throw_data("{}: JPEG, PNG, WebP, BMP, PPM and PGM are read, this is {}", name, found);
}

Image read_image(const std::string& path) {
  const MappedFile file(path);
  return decode(file.bytes(), path);
}

}  // namespace mpitron::images
