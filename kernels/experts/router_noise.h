#pragma once
#include "kernels/elementwise/dropout.h"

namespace mpitron::kernels {

// Random numbers of routers, counted by global token and column, so that they do not depend on the
// layout. Rows are [s, b] with the given b.
//
// Numerical contract: fp32, bf16, fp16 (logits and reference: also fp64); fp32 arithmetic
// (reference: double), one rounding; outputs `=`.

/// Source of a token's numbers: key and place of the rows.
struct TokenNoise {
  Philox::Key key{};
  GlobalIndexMap index;
  Index batch = 1;                // b: row r is sequence position r / b of sample r % b
  ReplayedNumbers replayed = {};  // CUDA: in place of key and first sample

  constexpr Index position(Index row) const { return index.sequence(row / batch); }
  constexpr Index sample(Index row) const { return index.sample(row % batch); }
};

/// Column `column` of a row: uniform in [0, 1), multiples of 2^-24. One Philox call serves four
/// columns.
constexpr float token_uniform(const TokenNoise& noise, Index row, Index column) {
  const auto sample = static_cast<std::uint64_t>(noise.sample(row));
  const Philox::Counter bits = Philox::generate(
      {static_cast<std::uint32_t>(column / 4), static_cast<std::uint32_t>(noise.position(row)),
       static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32)},
      noise.key);
  return static_cast<float>(bits[static_cast<std::size_t>(column % 4)] >> 8) * 0x1p-24F;
}

/// y = x * u with u uniform in [1 - eps, 1 + eps): jitter of a router's input (Fedus et al. 2022).
/// Its backward pass is itself.
struct Jitter {
  static constexpr const char* name = "jitter";
  In x;   // [t, h]
  Out y;  // [t, h]
  float eps = 0;
  TokenNoise noise;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("y", y);
  }
};

/// Uniform numbers in place of logits: every expert is as likely as any other.
struct RandomLogits {
  static constexpr const char* name = "random_logits";
  Out logits;  // [t, E]
  TokenNoise noise;

  template <class F>
  void views(F&& f) const {
    f("logits", logits);
  }
};

void run(device::ReferenceStream&, const Jitter&);
void run(device::ReferenceStream&, const RandomLogits&);
void run(device::HostStream&, const Jitter&);
void run(device::HostStream&, const RandomLogits&);
void run(device::CudaStream&, const Jitter&);
void run(device::CudaStream&, const RandomLogits&);

}  // namespace mpitron::kernels
