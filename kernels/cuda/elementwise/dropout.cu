// Numerical contract: that of dropout.h. A thread makes the bits of kPack lanes of a block
// of 128 columns, which serve 8 packs of it.
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/elementwise/dropout.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

constexpr int kBlock = 128, kLanes = 16;
constexpr int kParts = kLanes / kPack;          // threads that share a block of columns
constexpr int kPacksAThread = kBlock / kLanes;  // one for each half of each word

/// Returns dropout_keeps for the columns that kPack lanes of a block serve, from `column` % kLanes
/// on: bit kPack p + i belongs to column kLanes p + i behind the global `column`.
__device__ std::uint64_t kept_columns(const DropoutMask& mask, Index column, Index sequence,
                                      Index sample) {
  const auto lane = static_cast<std::uint32_t>(column / kBlock * kLanes + column % kLanes);
  std::uint64_t kept = 0;
  for (int i = 0; i < kPack; ++i) {
    const Philox::Counter words =
        Philox::generate({lane + static_cast<std::uint32_t>(i),
                          static_cast<std::uint32_t>(sequence), static_cast<std::uint32_t>(sample),
                          static_cast<std::uint32_t>(static_cast<std::uint64_t>(sample) >> 32)},
                         mask.key);
    for (int w = 0; w < 4; ++w) {
      const std::uint32_t word = words[static_cast<std::size_t>(w)];
      const std::uint64_t low = (word & 0xffffu) >= mask.threshold,
                          high = word >> 16 >= mask.threshold;
      kept |= low << (kPack * w + i) | high << (kPack * (w + 4) + i);
    }
  }
  return kept;
}

/// Arguments that the kernels of this file share: rows of h columns, masked and scaled.
struct MaskedRows {
  DropoutMask mask;
  Index rows, h, batch;
  bool packed;
};

/// Calls put(row, i, load(row, i, width), factors) for all elements; a factor is 0 or 1 / (1 - p).
/// Packs are loaded two at a time, so that both are on their way at once.
template <class Load, class Put>
__device__ void for_masked(const MaskedRows& a, Load&& load, Put&& put) {
  const DropoutMask mask = of_step(a.mask);
  const float scale = mask.keep_scale();
  const Index offset = mask.index.column_offset, first_block = offset / kBlock;
  const Index units = ((offset + a.h - 1) / kBlock - first_block + 1) * kParts;
  for_rows(a.rows, units, false, [&](Index row, Index unit, auto) {
    const Index column = (first_block + unit / kParts) * kBlock + unit % kParts * kPack;
    const Index position = quotient(row, a.batch), sample = row - position * a.batch;
    const std::uint64_t kept =
        kept_columns(mask, column, a.mask.index.sequence(position), mask.index.sample(sample));
    const auto factor = [&](int p, int lane) {
      return kept >> (kPack * p + lane) & 1 ? scale : 0.f;
    };
    const auto put_pack = [&](int p, const auto& loaded) {
      Floats<kPack> factors;
      for (int lane = 0; lane < kPack; ++lane) {
        factors[lane] = factor(p, lane);
      }
      put(row, column + p * kLanes - offset, loaded, factors);
    };
    for (int p = 0; p < kPacksAThread; p += 2) {
      const Index first = column + p * kLanes - offset, second = first + kLanes;
      if (a.packed && first >= 0 && second + kPack <= a.h) {  // both on their way at once
        const auto early = load(row, first, Width<kPack>()),
                   late = load(row, second, Width<kPack>());
        put_pack(p, early);
        put_pack(p + 1, late);
        continue;
      }
      for (int k = 0; k < 2 * kPack; ++k) {
        const int lane = k % kPack, pack = k / kPack;
        const Index i = first + pack * kLanes + lane;
        if (i >= 0 && i < a.h) {
          put(row, i, load(row, i, Width<1>()), Floats<1>{factor(p + pack, lane)});
        }
      }
    }
  });
}

/// The same with a mask or without. Kernels without one are others: they need half the registers.
template <bool kMasked, class Load, class Put>
__device__ void for_elements(const MaskedRows& a, Load&& load, Put&& put) {
  if constexpr (kMasked) {
    for_masked(a, load, put);
  } else {
    for_rows(a.rows, a.h, a.packed, [&](Index row, Index i, auto width) {
      Floats<width> ones;
      for (float& one : ones.v) {
        one = 1;
      }
      put(row, i, load(row, i, width), ones);
    });
  }
}

template <class Tx, class Ty, int N>
struct Operands {
  Raw<Tx, N> x, bias;
  Raw<Ty, N> residual;
};

/// y = residual + dropout(x + bias), in fp32, rounded once. Operands stay in their own types until
/// the mask is known, which saves registers.
template <class Tx, class Ty, bool kMasked>
__global__ void bias_dropout_add(const __grid_constant__ MaskedRows a,
                                 const __grid_constant__ Rows<const Tx> x, const Tx* bias,
                                 const __grid_constant__ Rows<const Ty> residual,
                                 const __grid_constant__ Rows<Ty> y) {
  const auto load_operands = [&]<int N>(Index row, Index i, Width<N> width) {
    Operands<Tx, Ty, N> operands{load_raw(x[row] + i, width)};
    if (residual) {
      operands.residual = load_raw(residual[row] + i, width);
    }
    if (bias != nullptr) {
      operands.bias = load_raw(bias + i, width);
    }
    return operands;
  };
  for_elements<kMasked>(
      a, load_operands, [&](Index row, Index i, const auto& operands, const auto& factors) {
        auto value = floats(operands.x);
        if (bias != nullptr) {
          value = each(Sum{}, value, floats(operands.bias));
        }
        value = each([](float v, float factor) { return v * factor; }, value, factors);
        if (residual) {
          value = each(Sum{}, value, floats(operands.residual));
        }
        store(y[row] + i, value);
      });
}

/// dx = dy where the mask keeps, scaled; the mask is drawn again.
template <class Ty, class Tx, bool kMasked>
__global__ void dropout_backward(const __grid_constant__ MaskedRows a,
                                 const __grid_constant__ Rows<const Ty> dy,
                                 const __grid_constant__ Rows<Tx> dx) {
  for_elements<kMasked>(
      a, [&](Index row, Index i, auto width) { return load_raw(dy[row] + i, width); },
      [&](Index row, Index i, const auto& gradients, const auto& factors) {
        store(dx[row] + i,
              each([](float v, float factor) { return v * factor; }, floats(gradients), factors));
      });
}

/// Describes the kernel's rows [t, h]; packs need a mask that begins with whole ones.
template <class K, class... Pointers>
MaskedRows masked_rows(const K& k, const device::ConstTensorView& x, const Pointers&... pointers) {
  const bool whole = !k.mask.active() || k.mask.index.column_offset % kPack == 0;
  return {k.mask, row_count(x), x.size(-1), k.batch, whole && all_packed(pointers...)};
}

LaunchShape shape_of(const MaskedRows& a) {
  return row_shape(a.rows, a.mask.active() ? (a.h + kBlock - 1) / kBlock * kParts * kPack : a.h);
}

}  // namespace

void run(device::CudaStream& stream, const BiasDropoutAddForward& k) {
  MPITRON_CHECK(!k.bias || k.bias.dtype == k.x.dtype, name_of(k.bias.dtype));
  MPITRON_CHECK(!k.residual || k.residual.dtype == k.y.dtype, name_of(k.residual.dtype));
  visit_elements(k.x.dtype, k.y.dtype, [&]<class Tx, class Ty>() {
    const auto x = rows_of<Tx>(k.x);
    const Tx* const bias = elements<Tx>(k.bias);
    const auto residual = rows_of<Ty>(k.residual);
    const auto y = rows_of<Ty>(k.y);
    const MaskedRows a = masked_rows(k, k.x, x, bias, residual, y);
    launch(stream, BiasDropoutAddForward::name, shape_of(a),
           a.mask.active() ? bias_dropout_add<Tx, Ty, true> : bias_dropout_add<Tx, Ty, false>, a, x,
           bias, residual, y);
  });
}

void run(device::CudaStream& stream, const DropoutBackward& k) {
  visit_elements(k.dy.dtype, k.dx.dtype, [&]<class Ty, class Tx>() {
    const auto dy = rows_of<Ty>(k.dy);
    const auto dx = rows_of<Tx>(k.dx);
    const MaskedRows a = masked_rows(k, k.dy, dy, dx);
    launch(stream, DropoutBackward::name, shape_of(a),
           a.mask.active() ? dropout_backward<Ty, Tx, true> : dropout_backward<Ty, Tx, false>, a,
           dy, dx);
  });
}

}  // namespace mpitron::kernels
