#pragma once
#include <span>

#include "kernels/elementwise/stored_numbers.h"

namespace mpitron::kernels {

// Numerical contract of the steps
//   types:      SGD's and Lion's param and buffer fp32, Adam's param and states as
//               stored_numbers.h says; grad fp32, bf16 or fp16; model_param bf16 or fp16 (absent
//               when training in fp32, or where it is the upper half of a stored param)
//   arithmetic: fp32, element by element (reference: double); g = grad * grad_scale first. Adam's
//               operations and their order are those of AdamRule on every device, each rounded as
//               IEEE 754 says: all but the reference give the same bits
//   outputs:    param, states in place; model_param = the rounded new param

/// AdamW (Loshchilov and Hutter 2019): m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2,
/// param -= lr (m / correction1 / (sqrt(v / correction2) + eps) + weight_decay param).
struct AdamStep {
  static constexpr const char* name = "adam_step";
  static constexpr const char* name_of_many = "adam_steps";
  StoredNumbers param, exp_avg, exp_avg_sq;  // [n]
  In grad;                                   // [n]
  Out model_param;                           // [n], optional
  float lr = 0, beta1 = 0.9f, beta2 = 0.999f, eps = 1e-8f, weight_decay = 0;
  float bias_correction1 = 1, bias_correction2 = 1;  // 1 - beta^step
  float grad_scale = 1;                              // clip coefficient / loss scale

  template <class F>
  void views(F&& f) const {
    param.views("param", f), exp_avg.views("exp_avg", f), exp_avg_sq.views("exp_avg_sq", f);
    f("grad", grad), f("model_param", model_param);
  }
};

/// The factors of Adam's arithmetic:
///   g = grad * grad_scale;  m = fma(m, beta1, g * rest1);  v = fma(v, beta2, g * g * rest2)
///   param = param - fma(param, decay, rate * m / (sqrt(v * inverse2) + eps))
struct AdamRule {
  AdamRule() = default;
  explicit AdamRule(const AdamStep& k)
      : grad_scale(k.grad_scale),
        beta1(k.beta1),
        rest1(1.f - k.beta1),
        beta2(k.beta2),
        rest2(1.f - k.beta2),
        rate(k.lr / k.bias_correction1),
        inverse2(1.f / k.bias_correction2),
        eps(k.eps),
        decay(k.lr * k.weight_decay) {}

  float grad_scale, beta1, rest1, beta2, rest2, rate, inverse2, eps, decay;
};

/// g += weight_decay param, buffer = momentum buffer + g, param -= lr buffer (torch's SGD without
/// dampening).
struct SgdStep {
  static constexpr const char* name = "sgd_step";
  static constexpr const char* name_of_many = "sgd_steps";
  InOut param, momentum_buffer;  // [n], fp32
  In grad;                       // [n]
  Out model_param;               // [n], optional
  float lr = 0, momentum = 0.9f, weight_decay = 0;
  float grad_scale = 1;

  template <class F>
  void views(F&& f) const {
    f("param", param), f("momentum_buffer", momentum_buffer), f("grad", grad),
        f("model_param", model_param);
  }
};

/// Lion (Chen et al. 2023): param *= 1 - lr weight_decay; param -= lr sign(b1 m + (1 - b1) g),
/// where the sign of 0 is 0; m = b2 m + (1 - b2) g.
struct LionStep {
  static constexpr const char* name = "lion_step";
  static constexpr const char* name_of_many = "lion_steps";
  InOut param, exp_avg;  // [n], fp32
  In grad;               // [n]
  Out model_param;       // [n], optional
  float lr = 0, beta1 = 0.95f, beta2 = 0.98f, weight_decay = 0;
  float grad_scale = 1;

  template <class F>
  void views(F&& f) const {
    f("param", param), f("exp_avg", exp_avg), f("grad", grad), f("model_param", model_param);
  }
};

/// How many tensors a GPU updates with each launch.
inline constexpr std::size_t kStepsTogether = 16;

/// The steps of many tensors of any sizes and types, with the bits that they have one by one.
template <class Step>
struct Steps {
  static constexpr const char* name = Step::name_of_many;
  std::span<const Step> steps;

  template <class F>
  void views(F&& f) const {
    for (const Step& step : steps) {
      step.views(f);
    }
  }
};
using AdamSteps = Steps<AdamStep>;
using SgdSteps = Steps<SgdStep>;
using LionSteps = Steps<LionStep>;

/// bins += sum of squares over x (exact_sum.h); infinite exactly where x holds an infinity or
/// NaN.
/// Contract: x is cut into blocks of 64 elements from its start; a block's squares are summed in
/// fp32 in a fixed order (in fp64 where fp32 overflows; reference: always), the blocks without
/// rounding; bf16 squares below 2^-126 may count as zero. So a vector cut at multiples of 64 has
/// the same sum in any pieces, on any rank.
struct SumOfSquares {
  static constexpr const char* name = "sum_of_squares";
  static constexpr Index kBlock = 64;
  In x;        // [n]
  InOut bins;  // [exact_sum::kBins], int64

  template <class F>
  void views(F&& f) const {
    f("x", x), f("bins", bins);
  }
};

/// result = number of elements that are exactly zero (int64).
struct CountZeros {
  static constexpr const char* name = "count_zeros";
  In x;        // [n]
  Out result;  // [1], int64

  template <class F>
  void views(F&& f) const {
    f("x", x), f("result", result);
  }
};

void run(device::ReferenceStream&, const AdamStep&);
void run(device::ReferenceStream&, const SgdStep&);
void run(device::ReferenceStream&, const LionStep&);
void run(device::ReferenceStream&, const SumOfSquares&);
void run(device::ReferenceStream&, const CountZeros&);
void run(device::HostStream&, const AdamStep&);
void run(device::HostStream&, const SgdStep&);
void run(device::HostStream&, const LionStep&);
void run(device::HostStream&, const SumOfSquares&);
void run(device::HostStream&, const CountZeros&);
void run(device::CudaStream&, const AdamStep&);
void run(device::CudaStream&, const AdamSteps&);
void run(device::CudaStream&, const SgdStep&);
void run(device::CudaStream&, const SgdSteps&);
void run(device::CudaStream&, const LionStep&);
void run(device::CudaStream&, const LionSteps&);
void run(device::CudaStream&, const SumOfSquares&);
void run(device::CudaStream&, const CountZeros&);

/// Runs the steps one after the other, where the device has no kernel for many.
template <class Stream, class Step>
requires requires(Stream& stream, const Step& step) {
  run(stream, step);
}
void run(Stream& stream, const Steps<Step>& many) {
  for (const Step& step : many.steps) {
    run(stream, step);
  }
}

}  // namespace mpitron::kernels
