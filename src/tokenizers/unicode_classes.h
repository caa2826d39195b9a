#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace mpitron::tokenizers {

/// What GPT-2's pre-tokenizer distinguishes: \p{L}, \p{N}, \s (the Unicode property White_Space)
/// and the rest.
enum class CharClass : std::uint8_t { other, letter, number, space };

/// Class of a code point, by Unicode 14. Code points past U+10FFFF are `other`.
CharClass char_class(std::uint32_t code_point);

/// The same for the 128 ASCII characters, for inner loops.
extern const std::array<CharClass, 128> kAsciiClasses;

}  // namespace mpitron::tokenizers
