#include <array>

#include "io/logs/tensorboard.h"
#include "utils/error.h"

// Checksums of event files: CRC-32C, masked as TensorFlow does.

namespace mpitron::io {
namespace {

constexpr std::uint32_t kReversedPolynomial = 0x82f63b78;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1) != 0 ? kReversedPolynomial : 0);
    }
    table[byte] = value;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t state = 0xffffffff;
  for (const char byte : bytes) {
    state = kTable[(state ^ static_cast<unsigned char>(byte)) & 0xff] ^ (state >> 8);
  }
  return ~state;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

}  // namespace mpitron::io
