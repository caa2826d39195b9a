#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Scores by which an indexer ranks the keys of a query (lightning indexer, DeepSeek-V3.2): small
// heads, a weight of each head for each query, and one key that all heads share.
//
// Numerical contract
//   types:        qk, weights and their gradients fp32, bf16, fp16, all the same; scores and their
//                 gradient fp32 (reference: all of these also fp64); contiguous
//   accumulation: fp32 (reference: double): products over d, then heads in their order; gradients
//                 of queries over keys and of keys over queries in rising order; so bits do not
//                 depend on the number of threads
//   rounding:     gradients once, at the end
//   outputs:      `=`; scores of keys behind their query are 0

/// scores[b, i, j] = factor sum over heads of weights[i, b, head] max(0, q[i, b, head] . k[j, b])
/// for j <= i.
struct IndexScores {
  static constexpr const char* name = "index_scores";
  In qk;       // [s, b, n + 1, d]: the heads' queries, then the key
  In weights;  // [s, b, n]
  Out scores;  // [b, s, s]
  float factor = 1;

  template <class F>
  void views(F&& f) const {
    f("qk", qk), f("weights", weights), f("scores", scores);
  }
  double multiply_adds() const { return static_cast<double>(qk.numel() * qk.size(0)) / 2; }
};

/// The gradients of qk and weights; a product of exactly 0 passes none.
struct IndexScoresBackward {
  static constexpr const char* name = "index_scores_backward";
  In qk, weights;  // as forward
  In dscores;      // [b, s, s]; those of keys behind their query are not read
  Out dqk;         // [s, b, n + 1, d]
  Out dweights;    // [s, b, n]
  float factor = 1;

  template <class F>
  void views(F&& f) const {
    f("qk", qk), f("weights", weights), f("dscores", dscores), f("dqk", dqk),
        f("dweights", dweights);
  }
  double multiply_adds() const { return 2 * static_cast<double>(qk.numel() * qk.size(0)); }
};

void run(device::ReferenceStream&, const IndexScores&);
void run(device::ReferenceStream&, const IndexScoresBackward&);
void run(device::HostStream&, const IndexScores&);
void run(device::HostStream&, const IndexScoresBackward&);

}  // namespace mpitron::kernels
