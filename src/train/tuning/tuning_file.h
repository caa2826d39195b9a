#pragma once
#include <map>
#include <string>
#include <vector>

#include "kernels/attention/attention_choice.h"
#include "kernels/linear/gemm_choice.h"

namespace mpitron::train {

/// Times of the kernels for an attention of one shape, and which of them runs it.
struct MeasuredAttention {
  kernels::AttentionShape shape;
  std::map<kernels::AttentionKernel, double> microseconds = {};
  kernels::AttentionKernel choice = kernels::AttentionKernel::mma;

  bool operator==(const MeasuredAttention&) const = default;
};

/// Times of cuBLASLt's algorithms for a product of one shape, and which of them runs it.
struct MeasuredGemm {
  struct Trial {
    std::optional<kernels::GemmAlgorithm> algorithm;  // absent: the library's own first answer
    double microseconds = 0;
    bool operator==(const Trial&) const = default;
  };
  kernels::GemmShape shape;
  std::vector<Trial> tried = {{}};
  std::size_t choice = 0;  // of `tried`

  bool operator==(const MeasuredGemm&) const = default;
};

/// Measurements on GPUs of one kind: the contents of a tuning file (JSON).
struct Tuning {
  std::string gpu;     // "NVIDIA H200"
  Index cublaslt = 0;  // its version, which the algorithms of `products` belong to
  std::vector<MeasuredAttention> attention;
  std::vector<MeasuredGemm> products;

  bool operator==(const Tuning&) const = default;
};

std::string to_json(const Tuning& tuning);
/// Parses a tuning file; Error(data) that names `origin` where the text is none of to_json's.
Tuning tuning_of(const std::string& text, const std::string& origin);

}  // namespace mpitron::train
