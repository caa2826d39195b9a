#pragma once
#include <map>
#include <string>
#include <vector>

#include "kernels/attention_choice.h"

namespace mpitron::train {

/// How long the kernels took for an attention of one shape, and which of them runs it.
struct MeasuredAttention {
  kernels::AttentionShape shape;
  std::map<kernels::AttentionKernel, double> microseconds;
  kernels::AttentionKernel choice;

  bool operator==(const MeasuredAttention&) const = default;
};

/// What was measured on GPUs of one kind: the contents of a tuning file (JSON).
struct Tuning {
  std::string gpu;  // "NVIDIA H200"
  std::vector<MeasuredAttention> attention;

  bool operator==(const Tuning&) const = default;
};

std::string to_json(const Tuning& tuning);
/// Error(data) that names `origin` where the text is none of to_json's.
Tuning tuning_of(const std::string& text, const std::string& origin);

}  // namespace mpitron::train
