#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Prepares a row of logits for the drawing of a token. Ids are taken in blocks of 64, so that a
// search can skip most of them.

inline constexpr Index kTokenBlock = 64;
constexpr Index token_blocks(Index v) {
  return (v + kTokenBlock - 1) / kTokenBlock;
}

/// Finds the largest of each block; NaN counts as minus infinity.
struct BlockMaxima {
  static constexpr const char* name = "block_maxima";
  In x;        // [v], fp32 or fp64
  Out maxima;  // [token_blocks(v)], as x

  template <class F>
  void views(F&& f) const {
    f("x", x), f("maxima", maxima);
  }
};

/// weights[i] = exp(x[i] / temperature - largest / temperature), and their sum in each block;
/// beside them x[i] / temperature, where it is wanted.
///
/// Numerical contract
///   types:      x fp32 or fp64, results fp64
///   arithmetic: fp64; a weight is exact to 1e-15 relative, below exp(-708) it is 0
///   sums:       in each block eight partial sums of every eighth weight, then these in order
struct TokenWeights {
  static constexpr const char* name = "token_weights";
  In x;         // [v]
  Out weights;  // [v], optional
  Out scaled;   // [v], optional; may be x
  Out sums;     // [token_blocks(v)]
  double temperature = 1;
  double largest = 0;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("weights", weights), f("scaled", scaled), f("sums", sums);
  }
};

void run(device::ReferenceStream&, const BlockMaxima&);
void run(device::ReferenceStream&, const TokenWeights&);
void run(device::HostStream&, const BlockMaxima&);
void run(device::HostStream&, const TokenWeights&);

}  // namespace mpitron::kernels
