#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace mpitron::data {

/// Computes SeedSequence(seed).generate_state(8) of numpy: four words of entropy, mixed, then
/// hashed into eight.
class SeedSequence {
 public:
  explicit SeedSequence(std::uint32_t seed) {
    for (std::uint32_t& word : pool_) {
      word = hash(seed, 0x931e8875);
      seed = 0;  // one word of entropy
    }
    for (std::uint32_t& source : pool_) {
      for (std::uint32_t& target : pool_) {
        if (&source != &target) {
          target = mix(target, hash(source, 0x931e8875));
        }
      }
    }
    constant_ = 0x8b51f9dd;
  }

  std::uint64_t next64(std::size_t first) {
    const std::uint64_t low = hash(pool_[first % 4], 0x58f38ded);
    return low | std::uint64_t{hash(pool_[(first + 1) % 4], 0x58f38ded)} << 32;
  }

 private:
  std::uint32_t hash(std::uint32_t value, std::uint32_t multiplier) {
    value ^= constant_;
    constant_ *= multiplier;
    value *= constant_;
    return value ^ value >> 16;
  }
  static std::uint32_t mix(std::uint32_t x, std::uint32_t y) {
    const std::uint32_t result = 0xca01f9ddu * x - 0x4973f715u * y;
    return result ^ result >> 16;
  }

  std::uint32_t constant_ = 0x43b0d7e5;
  std::array<std::uint32_t, 4> pool_{};
};

}  // namespace mpitron::data
