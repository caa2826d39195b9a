#include "utils/text/hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace mpitron {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 hash128(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = h.high64, .low = h.low64};
}

struct Hasher128::State {
  XXH3_state_t value;
};

Hasher128::Hasher128() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->value);
}

Hasher128::~Hasher128() = default;

void Hasher128::update(std::string_view bytes) {
  XXH3_128bits_update(&state_->value, bytes.data(), bytes.size());
}

Hash128 Hasher128::digest() const {
  const XXH128_hash_t h = XXH3_128bits_digest(&state_->value);
  return {.high = h.high64, .low = h.low64};
}

std::string Hash128::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

}  // namespace mpitron
