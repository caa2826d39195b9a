#pragma once
#include <optional>

#include "config/fp8_config.h"
#include "utils/numbers/dtype.h"

namespace mpitron::config {

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
