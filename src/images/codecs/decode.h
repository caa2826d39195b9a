#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "images/image.h"

namespace mpitron::images {

using Bytes = std::span<const std::byte>;

/// Most pixels of an image that is decoded, as PIL's limit for an error: more than any photograph
/// has, and a small file that unpacks to them is a decompression bomb.
inline constexpr Index kMostPixels = 178'956'970;

/// Decodes a file's bytes, by what they begin with and not by the file's name: JPEG, PNG, WebP (of
/// an animation the first frame), BMP, PPM or PGM. Grey and palettes become RGB, alpha is dropped,
/// of 16 bits the high byte is taken, CMYK is converted as PIL does. Rotation by EXIF is told and
/// not done. Error(data) with `name`: another format, empty, damaged, truncated, too many pixels,
/// of which nothing is unpacked.
Image decode(Bytes file, const std::string& name, Index most_pixels = kMostPixels);

/// Decodes a file.
Image read_image(const std::string& path);

/// Returns the endings of the files that an image folder is searched for, in small letters with the
/// dot.
std::span<const std::string_view> image_extensions();

/// Throws Error(data) where an image of this size is not decoded.
void check_size(const Size& size, const std::string& name, Index most_pixels);

}  // namespace mpitron::images
