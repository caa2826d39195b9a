#include "tokenizers/text/base64.h"

#include <array>
#include <cstdint>

namespace mpitron::tokenizers {
namespace {

constexpr std::uint8_t kInvalid = 64;

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  for (std::uint8_t& digit : digits) {
    digit = kInvalid;
  }
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t value = 0; value < kDigits.size(); ++value) {
    digits[static_cast<unsigned char>(kDigits[value])] = static_cast<std::uint8_t>(value);
  }
  return digits;
}

constexpr std::array<std::uint8_t, 256> kDigitOf = make_digits();

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::size_t padding = 0;
  while (padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '=') {
    ++padding;
  }
  text.remove_suffix(padding);
  std::string bytes;
  std::uint32_t bits = 0;
  int filled = 0;
  for (const char c : text) {
    const std::uint8_t digit = kDigitOf[static_cast<unsigned char>(c)];
    if (digit == kInvalid) {
      return std::nullopt;
    }
    bits = bits << 6 | digit;
    filled += 6;
    if (filled >= 8) {
      filled -= 8;
      bytes += static_cast<char>(bits >> filled & 0xFF);
    }
  }
  const bool clean = (bits & ((1U << filled) - 1)) == 0;
  return clean ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace mpitron::tokenizers
