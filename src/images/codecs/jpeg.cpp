#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <string_view>

#include "images/codecs/formats.h"

// jpeglib.h needs size_t and FILE from above.
#include <jerror.h>
#include <jpeglib.h>

#include "utils/error.h"

namespace mpitron::images {
namespace {

/// Error handling of a decoder: libjpeg calls functions where it fails; the jump leads back to the
/// frame that made the decoder.
struct Failure {
  jpeg_error_mgr manager = {};  // first: libjpeg knows only this
  std::jmp_buf back = {};
  std::array<char, JMSG_LENGTH_MAX> message = {};
};

Failure& failure_of(j_common_ptr decoder) {
  return *reinterpret_cast<Failure*>(decoder->err);
}

void fail(j_common_ptr decoder) {
  Failure& failure = failure_of(decoder);
  decoder->err->format_message(decoder, failure.message.data());
  std::longjmp(failure.back, 1);
}

/// Warnings that come with pixels that are guessed: the file or a segment ends early, a code that
/// no image has, restart marks that do not follow each other.
constexpr std::array<int, 4> kLost = {JWRN_JPEG_EOF, JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE,
                                      JWRN_MUST_RESYNC};

/// Fails at warnings of lost pixels. With others (superfluous bytes, unknown versions) every pixel
/// is right, and PIL takes them, too.
void note_message(j_common_ptr decoder, int level) {
  if (level < 0 && std::ranges::count(kLost, decoder->err->msg_code) > 0) {
    fail(decoder);
  }
}

void be_quiet(j_common_ptr) {}

/// Converts CMYK as PIL does; with the Adobe marker it is stored inverted.
void from_cmyk(const std::vector<std::uint8_t>& cmyk, bool inverted, std::uint8_t* rgb) {
  for (std::size_t i = 0; i < cmyk.size() / 4; ++i) {
    const auto ink = [&](std::size_t channel) -> int {
      const int value = cmyk[4 * i + channel];
      return inverted ? 255 - value : value;
    };
    const int light = 255 - ink(3);
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const int product = ink(channel) * light + 128;
      const int covered = ((product >> 8) + product) >> 8;  // rounded division by 255
      rgb[3 * i + channel] = clamped(light - covered);
    }
  }
}

/// The stages of decoding, none of which owns memory: errors jump over them.
class JpegDecoder {
 public:
  explicit JpegDecoder(Failure& failure) {
    info_.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = fail;
    failure.manager.emit_message = note_message;
    failure.manager.output_message = be_quiet;
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&info_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  void read_header(Bytes file) {
    jpeg_create_decompress(&info_);
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()),
                 static_cast<unsigned long>(file.size()));
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = four_channels() ? JCS_CMYK : JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    info_.do_fancy_upsampling = TRUE;
  }
  Size size() const { return {info_.image_width, info_.image_height}; }
  bool four_channels() const {
    return info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
  }
  bool inverted() const { return info_.saw_Adobe_marker != FALSE; }
  int orientation() const {
    for (const auto* marker = info_.marker_list; marker != nullptr; marker = marker->next) {
      if (marker->marker == JPEG_APP0 + 1) {
        return exif_orientation(
            std::as_bytes(std::span(marker->data, static_cast<std::size_t>(marker->data_length))));
      }
    }
    return 1;
  }
  void read_rows(std::uint8_t* to, Index row_bytes) {
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = to + static_cast<Index>(info_.output_scanline) * row_bytes;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
  }

 private:
  jpeg_decompress_struct info_ = {};
};

/// Runs a stage; false where libjpeg failed, whose message is in `failure`.
bool read_header(JpegDecoder& decoder, Bytes file, Failure& failure) {
  if (setjmp(failure.back) != 0) {
    return false;
  }
  decoder.read_header(file);
  return true;
}

bool read_rows(JpegDecoder& decoder, std::uint8_t* to, Index row_bytes, Failure& failure) {
  if (setjmp(failure.back) != 0) {
    return false;
  }
  decoder.read_rows(to, row_bytes);
  return true;
}

}  // namespace

Image decode_jpeg(Bytes file, const std::string& name, Index most_pixels) {
  Failure failure;
  JpegDecoder decoder(failure);
  const auto check = [&](bool read) {
    if (!read) {
      throw_data("{}: {} (libjpeg)", name, failure.message.data());
    }
  };
  check(read_header(decoder, file, failure));
  check_size(decoder.size(), name, most_pixels);
  Image image(decoder.size().width, decoder.size().height);
  image.orientation = decoder.orientation();
  if (decoder.four_channels()) {
    std::vector<std::uint8_t> cmyk(static_cast<std::size_t>(image.width * image.height * 4));
    check(read_rows(decoder, cmyk.data(), image.width * 4, failure));
    from_cmyk(cmyk, decoder.inverted(), image.pixels.data());
  } else {
    check(read_rows(decoder, image.pixels.data(), image.width * kChannels, failure));
  }
  return image;
}

}  // namespace mpitron::images
