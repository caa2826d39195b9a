#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mpitron {

/// 128 bits; two words so that it can be stored and sent.
struct Hash128 {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Hash128&) const = default;
  std::string hex() const;  // 32 digits
};

/// XXH3: 64 bits for keys and fingerprints, 128 bits where a collision must not happen.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);
Hash128 hash128(std::string_view bytes);
/// hash128 of bytes that come in pieces.
class Hasher128 {
 public:
  Hasher128();
  ~Hasher128();
  void update(std::string_view bytes);
  Hash128 digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
inline std::string hash128_hex(std::string_view bytes) {
  return hash128(bytes).hex();
}

/// MD5 (RFC 1321) as 32 hex digits: only for the names of Megatron's index caches, never for trust.
std::string md5_hex(std::string_view bytes);

}  // namespace mpitron
