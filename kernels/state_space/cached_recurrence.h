#pragma once
#include "kernels/attention/cached_attention.h"
#include "kernels/state_space/delta_rule.h"
#include "kernels/state_space/selective_scan.h"

namespace mpitron::kernels {

using device::InOut;

// What the mixers with a state compute of a step's rows, [t, 1, ...], each piece going on from the
// state that lies at its place `state_from` (zeros where that is -1); the one behind its last row
// is left at `state_to`. Rows of no piece are not written.
//
// Numerical contract
//   arithmetic: as of the kernels for whole sequences (causal_conv.h, selective_scan.h,
//               delta_rule.h), but position by position also where those meet in chunks
//   rounding:   a row reads the state before it as it is kept, in any of the three types, and
//               writes its own rounded once; y reads that in fp32, before it is rounded. This is so
//               for every row, not only for a piece's last: a sequence may be cut anywhere
//   order:      a row's bits depend on its own sequence alone: neither on how it was cut into
//               pieces, nor on other pieces, nor on the number of threads
//   outputs:    y and states `=`
//   on GPUs:    states of the scan and the delta rule are fp32, and x, y and states of the
//               convolution have one type

/// The convolution with SiLU; its state is the w - 1 inputs before a position, oldest first. It
/// takes its inputs in the type in which they are kept, a row's own as well.
struct CachedConv {
  static constexpr const char* name = "cached_conv";
  In x;          // [t, 1, c], of the states' type
  In weight;     // [c, 1, w]
  In bias;       // [c], optional
  InOut states;  // [places, w - 1, c]
  Out y;         // [t, 1, c], of any type
  std::span<const CachedPiece> pieces;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("weight", weight), f("bias", bias), f("y", y);
  }
};

/// The scan of Mamba-2.
struct CachedScan {
  static constexpr const char* name = "cached_scan";
  ScanInputs in;
  InOut states;  // [places, heads, n, p]
  Out y;         // [t, 1, heads p]
  std::span<const CachedPiece> pieces;

  template <class F>
  void views(F&& f) const {
    in.views(f), f("y", y);
  }
};

/// The gated delta rule.
struct CachedDeltaRule {
  static constexpr const char* name = "cached_delta_rule";
  DeltaRuleInputs in;
  InOut states;  // [places, value heads, k, v]
  Out o;         // [t, 1, value heads v]
  std::span<const CachedPiece> pieces;

  template <class F>
  void views(F&& f) const {
    in.views(f), f("o", o);
  }
};

void run(device::HostStream&, const CachedConv&);
void run(device::HostStream&, const CachedScan&);
void run(device::HostStream&, const CachedDeltaRule&);
void run(device::CudaStream&, const CachedConv&);
void run(device::CudaStream&, const CachedScan&);
void run(device::CudaStream&, const CachedDeltaRule&);

}  // namespace mpitron::kernels
