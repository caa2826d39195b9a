#pragma once
#include <string>
#include <string_view>

namespace mpitron {

/// MD5 (RFC 1321) as 32 hex digits: only for the names of Megatron's index caches, never for trust.
std::string md5_hex(std::string_view bytes);

}  // namespace mpitron
