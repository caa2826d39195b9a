#pragma once

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// How the scales are found by which numbers are brought into the range of 8 bits.
enum class Fp8Recipe { tensorwise, delayed, blockwise, mxfp8 };

/// Linear layers whose products take factors of 8 bits.
struct Fp8Config {
  Fp8Recipe recipe = Fp8Recipe::delayed;
  bool hybrid = false;          // gradients are e5m2, not e4m3
  bool weight_gradient = true;  // its product takes factors of 8 bits, too
  Index margin = 0;             // of the delayed recipe: powers of two left free
  Index amax_history = 1;       // likewise: steps whose largest values are remembered
  bool largest_of_history = false;
  Index first_bf16_layers = 0, last_bf16_layers = 0;

  /// Whether layer `number` (from 1) of `layers` has them; layers behind the last one (of
  /// multi-token prediction) do.
  bool has(Index number, Index layers) const {
    return number > layers || (number > first_bf16_layers && number <= layers - last_bf16_layers);
  }
};

}  // namespace mpitron::config
