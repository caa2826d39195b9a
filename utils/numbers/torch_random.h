#pragma once
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace mpitron {

/// torch's CPU generator: std::mt19937(uint32(seed)) and its ways to draw from it. Integers agree
/// exactly, normal values to about 2e-9. Serves cyclic sampling and --use-cpu-initialization.
/// Its state is the engine alone, so two with one seed stay equal call by call.
class TorchGenerator {
 public:
  explicit TorchGenerator(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed)) {}

  /// The next number of the Mersenne twister.
  std::uint32_t bits32() { return static_cast<std::uint32_t>(engine_()); }
  /// High half first.
  std::uint64_t bits64();
  /// In [0, 1), 24 bits (fp32 `rand`).
  float uniform() { return static_cast<float>(bits32() & 0xffffffu) * 0x1p-24f; }
  /// `randperm(n)`: a permutation of 0..n-1.
  void permutation(std::span<std::int64_t> out);
  std::vector<std::int64_t> permutation(std::int64_t n);
  /// `tensor.uniform_(low, high)`.
  /// In [low, high), 24 bits each.
  void uniform(std::span<float> out, float low, float high);
  /// `tensor.normal_(mean, std)`: the order of draws depends on whether there are 16 elements or
  /// more.
  void normal(std::span<float> out, float mean, float std);

 private:
  double uniform53() { return static_cast<double>(bits64() & ((1ull << 53) - 1)) * 0x1p-53; }
  /// Fewer than 16 elements: pairs by Box-Muller, one after the other.
  void normal_scalar(std::span<float> out, float mean, float std);

  std::mt19937 engine_;
};

}  // namespace mpitron
