#pragma once
#include <optional>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// `--use-mup` (Yang et al. 2022): what depends on the width beside rates.
struct MupConfig {
  double width = 1;  // hidden size over that of the base model
  double embedding_factor = 1;
  double output_factor = 1;
};

/// How parameters start.
struct InitializationConfig {
  Index seed = 1234;
  double init_method_std = 0.02;
  std::optional<double> embedding_init_method_std;  // given: embeddings also lose weight decay
  bool init_method_xavier_uniform = false;
  std::optional<MupConfig> mup;
  bool perform_initialization = true;
  bool use_cpu_initialization = false;
};

}  // namespace mpitron::config
