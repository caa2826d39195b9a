#pragma once
#include <array>
#include <cstdint>

namespace mpitron {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11): a pure
/// function of key and counter, so a random number belongs to a global index and to nobody's
/// thread, rank or call order.
struct Philox {
  /// Counter: what is numbered; key: what tells streams of numbers apart.
  using Counter = std::array<std::uint32_t, 4>;
  using Key = std::array<std::uint32_t, 2>;
  using Keys = std::array<Key, 10>;  // of each round

  /// All round keys at once, for kernels that draw many numbers of one key.
  static constexpr Keys keys_of(Key k) {
    Keys keys{};
    for (Key& key : keys) {
      key = k;
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    return keys;
  }
  /// Four numbers of 32 bits; constexpr, so that GPUs run the same source.
  static constexpr Counter generate(Counter c, Key k) {
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c[2];
      c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
           static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
      k[0] += 0x9E3779B9u;
      k[1] += 0xBB67AE85u;
    }
    return c;
  }
};

}  // namespace mpitron
