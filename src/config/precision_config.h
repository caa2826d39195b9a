#pragma once

#include <optional>

#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::config {

/// The ways to find the scales by which numbers are brought into the range of 8 bits.
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

  /// Returns whether layer `number` (from 1) of `layers` has 8-bit products; layers behind the last
  /// one (of multi-token prediction) do.
  bool has(Index number, Index layers) const {
    return number > layers || (number > first_bf16_layers && number <= layers - last_bf16_layers);
  }
};

/// Types that a model computes in.
struct PrecisionConfig {
  DType params_dtype = DType::f32;  // derived from fp16 / bf16
  std::optional<Fp8Config> fp8;     // absent: products take factors of params_dtype
  bool fp16_lm_cross_entropy = false;
  bool cross_entropy_loss_fusion = false;
  /// Weight gradients of linear layers are added to main_grad by the product itself, in the type of
  /// main_grad; without it each microbatch's gradient is first rounded to params_dtype. Differs
  /// only for fp16 and bf16.
  bool gradient_accumulation_fusion = true;
};

}  // namespace mpitron::config
