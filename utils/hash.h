#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mpitron {

/// XXH3: 64 bits for keys and fingerprints, 128 bits (as 32 hex digits) where a collision must not
/// happen.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);
std::string hash128_hex(std::string_view bytes);

}  // namespace mpitron
