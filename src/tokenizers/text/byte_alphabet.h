#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mpitron::tokenizers {

/// GPT-2's printable stand-ins for bytes: printable Latin-1 characters stand for themselves, the
/// other 68 bytes for U+0100 onwards, in order. Vocabulary files hold tokens in this alphabet.
/// Source: GPT-2's encoder.py.
std::string bytes_to_alphabet(std::string_view bytes);

/// Returns the bytes of a token; a token with a character outside the alphabet (an added one)
/// stands for its own UTF-8.
std::string alphabet_to_bytes(std::string_view token);

/// Returns all bytes in the order of their ids in GPT-2's vocabulary: the printable ones first.
std::vector<unsigned char> bytes_in_vocabulary_order();

/// Returns the bytes of standard base64 with its padding (RFC 4648); nothing where the text is not
/// that.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace mpitron::tokenizers
