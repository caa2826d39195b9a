#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// A teacher says of each token its k likeliest words and their log-probabilities. At temperature T
// its shares are p = softmax(log_probs / T) over these k words.
//
// Numerical contract of all kernels
//   types:      logits fp32, bf16, fp16 (reference: also fp64); ids int64; all else fp32
//               (reference: also fp64); all contiguous
//   arithmetic: fp64; sums over the k words in their order

/// match[t] = sum of p * logits at the words among columns [first_column, first_column + v_local),
/// `=`. Words elsewhere count 0.
struct TeacherMatch {
  static constexpr const char* name = "teacher_match";
  In logits;          // [t, v_local], divided by the temperature
  In ids, log_probs;  // [t, k]
  Out match;          // [t], fp64
  Index first_column = 0;
  double temperature = 1;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("ids", ids), f("log_probs", log_probs), f("match", match);
  }
};

/// divergence[t] = T^2 * (sum of p * log p - match + lse), which is T^2 KL(teacher || student), and
/// loss[t] = (1 - weight) * hard + weight * divergence (Hinton et al. 2015), `=`.
struct DistillationForward {
  static constexpr const char* name = "distillation_forward";
  In hard, lse;          // [t]: of the logits as they are; of those divided by the temperature
  In match;              // [t], fp64, of all columns
  In log_probs;          // [t, k]
  Out loss, divergence;  // [t]
  double temperature = 1;
  double weight = 0.5;

  template <class F>
  void views(F&& f) const {
    f("hard", hard), f("lse", lse), f("match", match), f("log_probs", log_probs);
    f("loss", loss), f("divergence", divergence);
  }
};

/// dlogits[t, id] -= factor * dloss[t] * p, rounded once, for the words among the columns.
struct TeacherScatter {
  static constexpr const char* name = "teacher_scatter";
  In ids, log_probs;  // [t, k]
  In dloss;           // [t]
  InOut dlogits;      // [t, v_local]
  Index first_column = 0;
  double temperature = 1;
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("ids", ids), f("log_probs", log_probs), f("dloss", dloss), f("dlogits", dlogits);
  }
};

void run(device::ReferenceStream&, const TeacherMatch&);
void run(device::ReferenceStream&, const DistillationForward&);
void run(device::ReferenceStream&, const TeacherScatter&);
void run(device::HostStream&, const TeacherMatch&);
void run(device::HostStream&, const DistillationForward&);
void run(device::HostStream&, const TeacherScatter&);
void run(device::CudaStream&, const TeacherMatch&);
void run(device::CudaStream&, const DistillationForward&);
void run(device::CudaStream&, const TeacherScatter&);

}  // namespace mpitron::kernels
