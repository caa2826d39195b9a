#pragma once
#include <array>
#include <cstdint>

namespace mpitron::tokenizers {

/// A set of the classes of characters that the splitting patterns of byte-level BPE distinguish.
/// Every character is in exactly one class.
using CharSet = std::uint8_t;

inline constexpr CharSet kUpper = 1;     // \p{Lu} \p{Lt}
inline constexpr CharSet kLower = 2;     // \p{Ll}
inline constexpr CharSet kCaseless = 4;  // \p{Lm} \p{Lo}
inline constexpr CharSet kMark = 8;      // \p{M}
inline constexpr CharSet kNumber = 16;   // \p{N}
inline constexpr CharSet kNewline = 32;  // \r \n
inline constexpr CharSet kBlank = 64;    // the rest of \s (the Unicode property White_Space)
inline constexpr CharSet kOther = 128;

inline constexpr CharSet kLetter = kUpper | kLower | kCaseless;
inline constexpr CharSet kSpace = kNewline | kBlank;
inline constexpr CharSet kSymbol = kMark | kOther;  // [^\s\p{L}\p{N}]

/// Returns the class of a code point (one bit), by Unicode 14. Code points past U+10FFFF are
/// kOther.
CharSet char_class(std::uint32_t code_point);

/// Class of every ASCII character by its byte, and 0 for the bytes of longer characters.
extern const std::array<CharSet, 256> kByteClasses;

}  // namespace mpitron::tokenizers
