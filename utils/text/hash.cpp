#include "utils/text/hash.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

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

namespace {

constexpr std::size_t kBlockBytes = 64;

/// floor(2^32 |sin(i + 1)|), the constants of the RFC.
std::array<std::uint32_t, 64> sine_table() {
  std::array<std::uint32_t, 64> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double sine = std::fabs(std::sin(static_cast<double>(i + 1)));
    table[i] = static_cast<std::uint32_t>(static_cast<std::int64_t>(std::ldexp(sine, 32)));
  }
  return table;
}

std::uint32_t mix(std::uint32_t round, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  switch (round) {
    case 0:
      return (b & c) | (~b & d);
    case 1:
      return (d & b) | (~d & c);
    case 2:
      return b ^ c ^ d;
    default:
      return c ^ (b | ~d);
  }
}

void absorb(std::array<std::uint32_t, 4>& state, const char* block) {
  static const std::array<std::uint32_t, 64> kSines = sine_table();
  static constexpr int kShifts[4][4] = {
      {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  static constexpr std::uint32_t kStep[4] = {1, 5, 3, 7};
  static constexpr std::uint32_t kStart[4] = {0, 1, 5, 0};
  std::array<std::uint32_t, 16> words;
  std::memcpy(words.data(), block, kBlockBytes);
  auto [a, b, c, d] = state;
  for (std::uint32_t i = 0; i < 64; ++i) {
    const std::uint32_t round = i / 16;
    const std::uint32_t word = words[(kStart[round] + kStep[round] * i) % 16];
    const std::uint32_t sum = a + mix(round, b, c, d) + kSines[i] + word;
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShifts[round][i % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::string md5_hex(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  padded.resize((padded.size() + 8 + kBlockBytes - 1) / kBlockBytes * kBlockBytes - 8, '\0');
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  padded.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
  std::array<std::uint32_t, 4> state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (std::size_t i = 0; i < padded.size(); i += kBlockBytes) {
    absorb(state, padded.data() + i);
  }
  std::string text;
  for (const char byte : std::string_view(reinterpret_cast<const char*>(state.data()), 16)) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return text;
}

}  // namespace mpitron
