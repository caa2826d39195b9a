#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mpitron::tokenizers {

/// The bytes of standard base64 with its padding (RFC 4648); nothing where the text is not that.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace mpitron::tokenizers
