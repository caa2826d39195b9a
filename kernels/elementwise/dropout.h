#pragma once
#include <cstdint>

#include "device/streams.h"
#include "device/tensor_view.h"
#include "utils/numbers/random_key.h"
#include "utils/numbers/sequence_map.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

/// Maps the elements of a local [s, b, ...] tensor to their place in the global batch, so that a
/// mask belongs to a global element and not to a layout.
struct GlobalIndexMap {
  SequenceMap sequence;     // two ranges: zigzag context parallelism
  Index sample_offset = 0;  // global sample of local b = 0
  Index sample_stride = 1;
  Index column_offset =
      0;  // hidden column (dropout), or query head (attention), of the local first one

  constexpr Index sample(Index local) const { return sample_offset + local * sample_stride; }
  /// The map of a piece whose first row is local sequence position `first` here.
  GlobalIndexMap from(Index first) const {
    GlobalIndexMap piece = *this;
    piece.sequence = sequence.from(first);
    return piece;
  }
};

/// Tells which elements a dropout keeps: Philox4x32-10 keyed by (seed, iteration, layer, site),
/// counted by global indices. The probability is a multiple of 2^-16; threshold 0 is no dropout.
struct DropoutMask {
  Philox::Key key{};
  std::uint32_t threshold = 0;  // keep where 16 random bits >= threshold: p = threshold / 65536
  GlobalIndexMap index;
  ReplayedNumbers replayed = {};  // CUDA: in place of key and first sample

  constexpr bool active() const { return threshold != 0; }
  constexpr float keep_scale() const { return 65536.f / static_cast<float>(65536u - threshold); }
};

/// Returns a mask, or a noise, with key and first sample of the step that a graph repeats; on the
/// device.
template <class Drawn>
constexpr Drawn of_step(Drawn drawn) {
  if (const StepNumbers* const step = drawn.replayed.step; step != nullptr) {
    drawn.key = place_key(step->step_key, drawn.replayed.place);
    drawn.index.sample_offset = step->first_sample;
  }
  return drawn;
}

/// Rounds a probability to multiples of 2^-16.
inline std::uint32_t dropout_threshold(double probability) {
  return static_cast<std::uint32_t>(probability * 65536.0 + 0.5);
}

/// Defines the hidden mask, by global column, sequence position and sample. One Philox call serves
/// 8 columns of a row: of the 128 columns of a block, lane = column % 16 has its own counter, word
/// = column / 16 % 4, and the low half of the word serves the first 64 columns, the high half the
/// others.
constexpr bool dropout_keeps(const DropoutMask& mask, Index column, Index sequence, Index sample) {
  const auto counter0 = static_cast<std::uint32_t>(column / 128 * 16 + column % 16);
  const Philox::Counter bits = Philox::generate(
      {counter0, static_cast<std::uint32_t>(sequence), static_cast<std::uint32_t>(sample),
       static_cast<std::uint32_t>(static_cast<std::uint64_t>(sample) >> 32)},
      mask.key);
  const std::uint32_t word = bits[static_cast<std::size_t>(column / 16 % 4)];
  return (column / 64 % 2 == 0 ? word & 0xffffu : word >> 16) >= mask.threshold;
}

/// y = residual + dropout(x + bias). Rows are [s, b] with the given b.
///
/// Numerical contract
///   types:   x, bias fp32, bf16, fp16 (reference: also fp64); residual, y of one type, which may
///            be wider than x's
///   outputs: y `=`, one rounding; y may be x or residual itself
struct BiasDropoutAddForward {
  static constexpr const char* name = "bias_dropout_add_forward";
  In x;             // [t, h]
  In bias;          // [h], optional
  In residual;      // [t, h], optional
  Out y;            // [t, h]
  Index batch = 1;  // b: row r is sequence position r / b of sample r % b
  DropoutMask mask;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("bias", bias), f("residual", residual), f("y", y);
  }
};

/// dx = dropout mask applied to dy (also scaled); the residual's gradient is dy itself.
struct DropoutBackward {
  static constexpr const char* name = "dropout_backward";
  In dy;   // [t, h]
  Out dx;  // [t, h], may be narrower than dy
  Index batch = 1;
  DropoutMask mask;

  template <class F>
  void views(F&& f) const {
    f("dy", dy), f("dx", dx);
  }
};

void run(device::ReferenceStream&, const BiasDropoutAddForward&);
void run(device::ReferenceStream&, const DropoutBackward&);
void run(device::HostStream&, const BiasDropoutAddForward&);
void run(device::HostStream&, const DropoutBackward&);
void run(device::CudaStream&, const BiasDropoutAddForward&);
void run(device::CudaStream&, const DropoutBackward&);

}  // namespace mpitron::kernels
