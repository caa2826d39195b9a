#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/sparse_attention/visible_keys.h"

namespace mpitron::kernels {

using device::InOut;
using device::Out;

// What trains an indexer (DeepSeek-V3.2, section 2.1): the distance of its scores' softmax from the
// probabilities of attention, summed over heads. Neither has a gradient for attention.
//
// Numerical contract
//   types:        q and k fp32, bf16, fp16, any strides but a contiguous last dimension; all else
//                 fp32, the loss fp64 (reference: all also fp64); contiguous
//   accumulation: products and softmaxes of attention fp32, heads in their order; sums over a row
//                 of the loss and over rows fp64, in order (reference: double)
//   visibility:   VisibleKeys of `mask`; what is behind a query or hidden is 0 in every output
//   outputs:      `=`

/// probabilities[b, i, j] = sum over heads of softmax over j of (scale q[i] . k[j]).
struct SummedProbabilities {
  static constexpr const char* name = "summed_probabilities";
  In q;               // [s, b, g, n/g, d]
  In k;               // [s, b, g, d]
  In mask;            // [b or 1, s or 1, s], u8, 1 = hidden; optional
  Out probabilities;  // [b, s, s]
  float scale = 1;

  template <class F>
  void views(F&& f) const {
    f("q", q), f("k", k), f("mask", mask), f("probabilities", probabilities);
  }
  double multiply_adds() const { return static_cast<double>(q.numel() * q.size(0)) / 2; }
};

/// loss = factor sum over b and i of KL(t || softmax of scores), where t is the row of
/// probabilities divided by its sum; what a logarithm is taken of, and that sum, is at least 1e-10.
/// A row without keys adds nothing. Leaves softmax - t in place of the probabilities: the gradient
/// of a row's distance.
struct IndexerLoss {
  static constexpr const char* name = "indexer_loss";
  In scores;            // [b, s, s]
  In mask;              // as above
  InOut probabilities;  // [b, s, s]
  Out rows;             // [b, s], fp64: distances
  Out loss;             // [1], fp64
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("scores", scores), f("mask", mask), f("probabilities", probabilities), f("rows", rows),
        f("loss", loss);
  }
};

/// dscores = factor dloss difference, in place: `difference` is what IndexerLoss has left.
struct IndexerLossBackward {
  static constexpr const char* name = "indexer_loss_backward";
  In dloss;          // [1], fp64
  InOut difference;  // [b, s, s]
  double factor = 1;

  template <class F>
  void views(F&& f) const {
    f("dloss", dloss), f("difference", difference);
  }
};

void run(device::ReferenceStream&, const SummedProbabilities&);
void run(device::ReferenceStream&, const IndexerLoss&);
void run(device::ReferenceStream&, const IndexerLossBackward&);
void run(device::HostStream&, const SummedProbabilities&);
void run(device::HostStream&, const IndexerLoss&);
void run(device::HostStream&, const IndexerLossBackward&);

}  // namespace mpitron::kernels
