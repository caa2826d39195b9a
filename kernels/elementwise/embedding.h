#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract of both kernels
//   types:   tables, y, dy fp32, bf16, fp16 (reference: also fp64), all the same; dtable fp32 or as
//            dy; ids int64
//   order:   the gradients of one row are added in the order of the tokens, in dtable's type
//   outputs: y `=`; dtable `+=`, or with accumulate = false zeroed first

/// y[t] = table[id - first_row] (+ positions[position]); a row of zeros (plus position) where the
/// id is not in [first_row, first_row + v): another rank's share of the vocabulary.
struct EmbeddingForward {
  static constexpr const char* name = "embedding_forward";
  In ids;           // [t], int64
  In table;         // [v, h]
  In position_ids;  // [t], int64, optional
  In positions;     // [p, h], optional
  Out y;            // [t, h]
  Index first_row = 0;

  template <class F>
  void views(F&& f) const {
    f("ids", ids), f("y", y);
  }
};

/// dtable[id - first_row] += dy[t].
struct EmbeddingBackward {
  static constexpr const char* name = "embedding_backward";
  In ids;        // [t], int64
  In dy;         // [t, h]
  InOut dtable;  // [v, h]
  Out workspace;
  Index first_row = 0;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("ids", ids), f("dy", dy);
  }
};

void run(device::ReferenceStream&, const EmbeddingForward&);
void run(device::ReferenceStream&, const EmbeddingBackward&);
void run(device::HostStream&, const EmbeddingForward&);
void run(device::HostStream&, const EmbeddingBackward&);
void run(device::CudaStream&, const EmbeddingForward&);
void run(device::CudaStream&, const EmbeddingBackward&);
Index workspace_bytes(const device::CudaStream&, const EmbeddingBackward&);

}  // namespace mpitron::kernels
