#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract of all kernels
//   types:      logits fp32, bf16, fp16 (reference: also fp64); loss, lse, dloss, sums fp32; labels
//               int64
//   arithmetic: fp32 (reference: double) sums within a row in a fixed order
//   labels:     one outside [0, v) has no target term: loss = log sum exp(l - max), the gradient is
//               the softmax
//   smoothing:  a' = a v / (v - 1), loss = (1 - a') CE - a' mean_k log p_k

/// loss[t] = log sum_k exp(logits[t, k]) - logits[t, label]; lse is the log-sum-exp, kept for
/// backward.
struct CrossEntropyForward {
  static constexpr const char* name = "cross_entropy_forward";
  In logits;      // [t, v]
  In labels;      // [t], int64
  Out loss, lse;  // [t], fp32
  float label_smoothing = 0;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("labels", labels), f("loss", loss), f("lse", lse);
  }
};

/// Sums that the columns [first_column, first_column + v_local) of a vocabulary add to each row's
/// loss: (largest logit, sum of exp(l - largest), the label's logit or 0 where another rank has it,
/// sum of the logits; the last only where it is asked for).
struct CrossEntropySums {
  static constexpr const char* name = "cross_entropy_sums";
  In logits;  // [t, v_local]
  In labels;  // [t], int64
  Out sums;   // [t, 4], fp32
  Index first_column = 0;
  bool plain_sum = false;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("labels", labels), f("sums", sums);
  }
};

/// Loss and lse of each row from the sums of all ranks, added in their order.
struct CrossEntropyJoin {
  static constexpr const char* name = "cross_entropy_join";
  In sums;               // [ranks, t, 4], fp32
  In labels;             // [t], int64
  Out loss, lse;         // [t], fp32
  Index vocabulary = 0;  // v
  float label_smoothing = 0;

  template <class F>
  void views(F&& f) const {
    f("sums", sums), f("labels", labels), f("loss", loss), f("lse", lse);
  }
};

/// dlogits = dloss * (softmax - target); dlogits may be logits itself (in place saves the largest
/// buffer of a step). The columns given may be a part of the vocabulary.
struct CrossEntropyBackward {
  static constexpr const char* name = "cross_entropy_backward";
  In logits;      // [t, v]
  In labels;      // [t], int64
  In lse, dloss;  // [t], fp32
  Out dlogits;    // [t, v]
  float label_smoothing = 0;
  Index first_column = 0;
  Index vocabulary = 0;  // v; 0: the columns given are all

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("labels", labels), f("lse", lse), f("dloss", dloss),
        f("dlogits", dlogits);
  }
};

void run(device::ReferenceStream&, const CrossEntropyForward&);
void run(device::ReferenceStream&, const CrossEntropySums&);
void run(device::ReferenceStream&, const CrossEntropyJoin&);
void run(device::ReferenceStream&, const CrossEntropyBackward&);
void run(device::HostStream&, const CrossEntropyForward&);
void run(device::HostStream&, const CrossEntropySums&);
void run(device::HostStream&, const CrossEntropyJoin&);
void run(device::HostStream&, const CrossEntropyBackward&);
void run(device::CudaStream&, const CrossEntropyForward&);
void run(device::CudaStream&, const CrossEntropySums&);
void run(device::CudaStream&, const CrossEntropyJoin&);
void run(device::CudaStream&, const CrossEntropyBackward&);

}  // namespace mpitron::kernels
