#pragma once
#include "images/codecs/decode.h"

// The formats that `decode` knows, one function each, with its contract: Error(data) with `name`
// for a damaged, truncated or too large file. Those of libraries that this program was built
// without refuse every file and name the library.

namespace mpitron::images {

/// Decodes a JPEG file, by libjpeg-turbo.
Image decode_jpeg(Bytes file, const std::string& name, Index most_pixels);

/// Returns how a camera was held, 1 (upright) to 8, from the bytes of an APP1 marker of a JPEG file
/// (Exif 2.32, section 4.6.4, tag 0x0112); 1 where they do not tell.
int exif_orientation(Bytes marker);

/// Decodes a PNG file, by libpng.
Image decode_png(Bytes file, const std::string& name, Index most_pixels);

/// Returns the image as a PNG file of 8-bit RGB.
std::string encode_png(const Image& image);

/// Decodes a WebP file, by libwebp: of an animation the first frame.
Image decode_webp(Bytes file, const std::string& name, Index most_pixels);

/// Decodes a BMP file without compression, of 8 bits with a palette, 24 or 32 bits.
Image decode_bitmap(Bytes file, const std::string& name, Index most_pixels);

/// Decodes a PPM or PGM file with numbers of 8 bits in binary form (P5, P6).
Image decode_portable_map(Bytes file, const std::string& name, Index most_pixels);

/// Returns the image as a PPM file.
std::string portable_map(const Image& image);

}  // namespace mpitron::images
