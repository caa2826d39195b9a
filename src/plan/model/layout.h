#pragma once
#include <algorithm>
#include <string>

#include "plan/model/model_shape.h"

namespace mpitron::plan {

enum class Sharding { none, optimizer, gradients, full };  // zero 0 to 3
enum class Recompute { none, selective, selective_products, full };
enum class Precision { bf16, fp8, mxfp8, nvfp4 };  // of the products; 16 bits: bf16 or fp16

/// How a model is spread over GPUs; names as in the options.
struct Layout {
  Index gpus = 1;
  Index tensor = 1;
  Index pipeline = 1;
  Index chunks = 1;  // of a stage
  Index context = 1;
  Index expert = 1;
  bool sequence_parallel = false;
  Index micro_batch = 1;
  Sharding sharding = Sharding::none;
  Recompute recompute = Recompute::none;
  double recomputed = 1;  // share of the layers that recompute

  Index data() const { return gpus / (tensor * pipeline * context); }
  bool operator==(const Layout&) const = default;
};

/// A step to predict.
struct Job {
  ModelShape model;
  Layout layout;
  Precision precision = Precision::bf16;
  Index sequence = 0;
  Index global_batch = 0;
  double gradient_bytes = 4;  // of a parameter's gradient where it is reduced

  Index microbatches() const {
    return std::max<Index>(1, global_batch / (layout.micro_batch * layout.data()));
  }
};

/// Short text: `tp 8 pp 12 vp 1 cp 1 ep 1 mbs 1 dp 8 full`.
std::string to_text(const Layout& layout);
const char* to_string(Sharding sharding);
const char* to_string(Recompute recompute);
const char* to_string(Precision precision);

}  // namespace mpitron::plan
