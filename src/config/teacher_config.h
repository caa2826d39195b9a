#pragma once
#include <optional>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::config {

/// Learning from pairs of answers, of which one is preferred (`--dpo`; Rafailov et al. 2023).
struct PreferenceConfig {
  double beta = 0.1;
  bool length_normalized = false;  // means over an answer's tokens in place of sums
  double label_smoothing = 0;      // share of pairs whose order is taken to be wrong
};

/// Learning from a teacher's words beside the labels (`--teacher-file`; Hinton et al. 2015).
struct DistillationConfig {
  double temperature = 1;
  double weight = 0.5;  // of the teacher; the rest is the labels'
};

/// Files in which a teacher's words are read, or written by the teacher itself.
struct DistillationFiles {
  std::optional<std::string> file, output;
  Index top_k = 32;  // words of a token in `output`
};

}  // namespace mpitron::config
