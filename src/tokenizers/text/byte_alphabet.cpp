#include "tokenizers/text/byte_alphabet.h"

#include <array>

#include "utils/text/utf8.h"

namespace mpitron::tokenizers {
namespace {

constexpr std::uint32_t kFirstStandIn = 0x100;
constexpr int kNoByte = -1;

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

}  // namespace mpitron::tokenizers
