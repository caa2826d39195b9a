#include "tokenizers/text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "utils/text/utf8.h"

// Two encodings of bytes in vocabulary files: GPT-2's printable alphabet, and base64 of tiktoken's
// and SentencePiece's files. Tables are computed by the compiler.

namespace mpitron::tokenizers {

namespace {

constexpr std::uint32_t kFirstStandIn = 0x100;
constexpr int kNoByte = -1;

/// Tells bytes that stand for themselves: printable Latin-1 but for the blank, U+00A0 and the soft
/// hyphen.
constexpr bool printable(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Alphabet {
  std::array<std::uint32_t, 256> code_point_of{};
  std::array<int, kFirstStandIn + 68> byte_of{};
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (int& byte : alphabet.byte_of) {
    byte = kNoByte;
  }
  std::uint32_t next = kFirstStandIn;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::uint32_t code_point = printable(byte) ? byte : next++;
    alphabet.code_point_of[byte] = code_point;
    alphabet.byte_of[code_point] = static_cast<int>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string bytes_to_alphabet(std::string_view bytes) {
  std::string token;
  for (const char c : bytes) {
    append_utf8(kAlphabet.code_point_of[static_cast<unsigned char>(c)], token);
  }
  return token;
}

std::string alphabet_to_bytes(std::string_view token) {
  std::string bytes;
  for (std::string_view rest = token; !rest.empty();) {
    const Utf8Char next = decode_utf8(rest);
    if (next.bytes == 0 || next.code_point >= kAlphabet.byte_of.size() ||
        kAlphabet.byte_of[next.code_point] == kNoByte) {
      return std::string(token);
    }
    bytes += static_cast<char>(kAlphabet.byte_of[next.code_point]);
    rest.remove_prefix(static_cast<std::size_t>(next.bytes));
  }
  return bytes;
}

std::vector<unsigned char> bytes_in_vocabulary_order() {
  std::vector<unsigned char> order;
  for (const bool first : {true, false}) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (printable(byte) == first) {
        order.push_back(static_cast<unsigned char>(byte));
      }
    }
  }
  return order;
}

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

/// Bits that padding cuts off must be zero, so that a text has one form only.
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
