#pragma once
#include <string>
#include <string_view>

namespace mpitron::tokenizers {

/// Bytes of base64 text (RFC 4648, with or without padding). Error(data) for any other character.
std::string decode_base64(std::string_view text);

}  // namespace mpitron::tokenizers
