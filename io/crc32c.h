#pragma once
#include <cstdint>
#include <string_view>

namespace mpitron::io {

/// CRC-32C (Castagnoli) of the bytes.
std::uint32_t crc32c(std::string_view bytes);

/// The form stored in TFRecord files, where a checksum may be part of checksummed data.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace mpitron::io
