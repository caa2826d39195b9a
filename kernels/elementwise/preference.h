#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Numerical contract of all kernels
//   types:      fp32 (reference: also fp64), sums fp64; all contiguous
//   arithmetic: fp64; sums over a column in the order of its rows
//   outputs:    `=`

/// sums[j] = sum over i of weights[i, j] * x[i, j].
struct WeightedColumnSums {
  static constexpr const char* name = "weighted_column_sums";
  In x, weights;  // [s, b]
  Out sums;       // [b], fp64

  template <class F>
  void views(F&& f) const {
    f("x", x), f("weights", weights), f("sums", sums);
  }
};

/// Direct preference optimisation (Rafailov et al. 2023; smoothing: Mitchell 2023) of pairs, of
/// which `sums` are the token losses weighted with +1 in the preferred and -1 in the rejected text:
///   margin = beta * (-sums - reference)
///   loss   = (1 - e) log(1 + exp(-margin)) + e log(1 + exp(margin))
///   right  = 1 where margin > 0, else 0
///   slope  = d loss / d sums
struct PreferenceForward {
  static constexpr const char* name = "preference_forward";
  In sums;                         // [b], fp64
  In reference;                    // [b]: -sums of the model that stays
  Out loss, margin, right, slope;  // [b]
  double beta = 0.1;
  double label_smoothing = 0;  // e

  template <class F>
  void views(F&& f) const {
    f("sums", sums), f("reference", reference), f("loss", loss), f("margin", margin);
    f("right", right), f("slope", slope);
  }
};

/// dx[i, j] = factor * weights[i, j] * slope[j] * dloss[j].
struct PreferenceBackward {
  static constexpr const char* name = "preference_backward";
  In weights;       // [s, b]
  In slope, dloss;  // [b]
  Out dx;           // [s, b]
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("weights", weights), f("slope", slope), f("dloss", dloss), f("dx", dx);
  }
};

void run(device::ReferenceStream&, const WeightedColumnSums&);
void run(device::ReferenceStream&, const PreferenceForward&);
void run(device::ReferenceStream&, const PreferenceBackward&);
void run(device::HostStream&, const WeightedColumnSums&);
void run(device::HostStream&, const PreferenceForward&);
void run(device::HostStream&, const PreferenceBackward&);
void run(device::CudaStream&, const WeightedColumnSums&);
void run(device::CudaStream&, const PreferenceForward&);
void run(device::CudaStream&, const PreferenceBackward&);

}  // namespace mpitron::kernels
