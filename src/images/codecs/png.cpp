#include <array>
#include <csetjmp>
#include <cstring>
#include <vector>

#include <png.h>

#include "images/codecs/formats.h"
#include "utils/check.h"
#include "utils/error.h"

// PNG by libpng. As in jpeg.cpp, errors jump out of stages that own nothing.

namespace mpitron::images {
namespace {

/// The bytes that libpng reads from, and what it said where it failed.
struct Source {
  Bytes file;
  std::size_t at = 0;
  std::array<char, 128> message = {};
};

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (count > source.file.size() - source.at) {
    png_error(png, "the file is truncated");
  }
  std::memcpy(to, source.file.data() + source.at, count);
  source.at += count;
}

void fail(png_structp png, png_const_charp message) {
  auto& source = *static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source.message.data(), message, source.message.size() - 1);
  std::longjmp(*png_set_longjmp_fn(png, std::longjmp, sizeof(std::jmp_buf)), 1);
}

void be_quiet(png_structp, png_const_charp) {}

class PngDecoder {
 public:
  explicit PngDecoder(Source& source)
      : png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, fail, be_quiet)),
        info_(png_create_info_struct(png_)) {
    png_set_read_fn(png_, &source, read_bytes);
  }
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  std::jmp_buf& back() { return *png_set_longjmp_fn(png_, std::longjmp, sizeof(std::jmp_buf)); }
  /// Reads the header and asks for RGB of 8 bits, whatever the file holds.
  void read_header() {
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png_, info_);
    const png_byte type = png_get_color_type(png_, info_), depth = png_get_bit_depth(png_, info_);
    has_palette_ = type == PNG_COLOR_TYPE_PALETTE || (type == PNG_COLOR_TYPE_GRAY && depth == 1);
    loses_levels_ = type == PNG_COLOR_TYPE_GRAY && depth == 16;
    png_set_expand(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
    png_set_gray_to_rgb(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
  }
  Size size() const {
    return {png_get_image_width(png_, info_), png_get_image_height(png_, info_)};
  }
  bool has_palette() const { return has_palette_; }
  bool loses_levels() const { return loses_levels_; }
  std::size_t row_bytes() const { return png_get_rowbytes(png_, info_); }
  void read_rows(std::uint8_t* to) {
    const std::size_t bytes = row_bytes();
    const png_uint_32 height = png_get_image_height(png_, info_);
    for (int pass = 0; pass < passes_; ++pass) {
      for (png_uint_32 y = 0; y < height; ++y) {
        png_read_row(png_, to + y * bytes, nullptr);
      }
    }
    png_read_end(png_, nullptr);
  }

 private:
  png_structp png_;
  png_infop info_;
  int passes_ = 1;
  bool has_palette_ = false, loses_levels_ = false;
};

/// Runs a stage; false where libpng failed.
bool read_header(PngDecoder& decoder) {
  if (setjmp(decoder.back()) != 0) {
    return false;
  }
  decoder.read_header();
  return true;
}

bool read_rows(PngDecoder& decoder, std::uint8_t* to) {
  if (setjmp(decoder.back()) != 0) {
    return false;
  }
  decoder.read_rows(to);
  return true;
}

}  // namespace

Image decode_png(Bytes file, const std::string& name, Index most_pixels) {
  Source source{file};
  PngDecoder decoder(source);
  const auto check = [&](bool read) {
    if (!read) {
      throw_data("{}: {} (libpng)", name, source.message.data());
    }
  };
  check(read_header(decoder));
  check_size(decoder.size(), name, most_pixels);
  Image image(decoder.size().width, decoder.size().height);
  image.has_palette = decoder.has_palette();
  image.lost_levels = decoder.loses_levels();
  MPITRON_CHECK(static_cast<Index>(decoder.row_bytes()) == image.width * kChannels, name);
  check(read_rows(decoder, image.pixels.data()));
  return image;
}

std::string encode_png(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string file(size, '\0');
  MPITRON_CHECK(png_image_write_to_memory(&header, file.data(), &size, 0, image.pixels.data(), 0,
                                          nullptr) != 0,
                std::string(header.message));
  file.resize(size);
  return file;
}

}  // namespace mpitron::images
