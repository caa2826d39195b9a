// Reads and writes stored numbers a block at a time: scaled types need the block's exponent, split
// masters two arrays. The formulas are those of kernels/elementwise/stored_numbers.h, shared by all
// devices.
#include "kernels/host/elementwise/stored_numbers.h"

#include "utils/check.h"

namespace mpitron::kernels {
namespace host {
namespace {

/// Reads a scaled block whose elements are of type T; `convert` makes them fp32.
template <class T, class Convert>
void read_scaled(const StoredNumbers& x, Index first, Index count, const stored::Scaled& type,
                 Convert convert, BlockOfFloats& block) {
  const T* p = x.values.as<T>() + first;
  const std::uint8_t exponent = x.exponents.as<std::uint8_t>()[first / StoredNumbers::kBlock];
  const float factor = stored::inverse_scale(exponent, type);
  for (Index i = 0; i < count; ++i) {
    block.v[i] = convert(p[i]) * factor;
  }
}

/// Writes a scaled block: its largest magnitude decides the exponent, then each number is scaled,
/// kept above zero where that was asked for, and rounded.
template <class T, class Convert>
void write_scaled(const BlockOfFloats& block, Index first, Index count, const stored::Scaled& type,
                  Convert convert, const StoredNumbers& y) {
  std::uint32_t largest = 0;
  for (Index i = 0; i < count; ++i) {
    largest = std::max(largest, stored::magnitude_bits(block.v[i]));
  }
  const std::uint8_t exponent = stored::block_exponent(largest, type);
  y.exponents.as<std::uint8_t>()[first / StoredNumbers::kBlock] = exponent;
  const float factor = stored::scale(exponent, type);
  T* p = y.values.as<T>() + first;
  for (Index i = 0; i < count; ++i) {
    const float x = block.v[i] * factor;
    p[i] = convert(y.keeps_nonzero ? stored::above_zero(x, type) : x);
  }
}

}  // namespace

void read_block(const StoredNumbers& x, Index first, Index count, BlockOfFloats& block) {
  switch (x.values.dtype) {
    case DType::f16:
      return read_scaled<Float16>(
          x, first, count, stored::fp16(), [](Float16 v) { return static_cast<float>(v); }, block);
    case DType::u8:
      return read_scaled<std::uint8_t>(x, first, count, stored::e4m3(), stored::from_e4m3, block);
    case DType::i16: {
      const auto* upper = x.upper.as<BFloat16>() + first;
      const auto* rest = x.values.as<std::int16_t>() + first;
      for (Index i = 0; i < count; ++i) {
        block.v[i] = stored::whole({upper[i].bits, rest[i]});
      }
      return;
    }
    default:
      return read_elements(x.values, first, count, block);
  }
}

void write_block(const BlockOfFloats& block, Index first, Index count, const StoredNumbers& y) {
  switch (y.values.dtype) {
    case DType::f16:
      return write_scaled<Float16>(
          block, first, count, stored::fp16(), [](float v) { return Float16(v); }, y);
    case DType::u8:
      return write_scaled<std::uint8_t>(block, first, count, stored::e4m3(), stored::e4m3_of, y);
    case DType::i16: {
      auto* upper = y.upper.as<BFloat16>() + first;
      auto* rest = y.values.as<std::int16_t>() + first;
      for (Index i = 0; i < count; ++i) {
        const stored::Halves halves = stored::halves_of(block.v[i]);
        upper[i].bits = halves.upper;
        rest[i] = halves.rest;
      }
      return;
    }
    default:
      return write_elements(block, first, count, Out(y.values));
  }
}

}  // namespace host

void run(device::HostStream&, const ReadStored& k) {
  host::for_stored_blocks(k.x.numel(), [&](Index first, Index count) {
    host::BlockOfFloats block;
    host::read_block(k.x, first, count, block);
    host::write_elements(block, first, count, k.y);
  });
}

void run(device::HostStream&, const WriteStored& k) {
  host::for_stored_blocks(k.y.numel(), [&](Index first, Index count) {
    host::BlockOfFloats block;
    host::read_elements(k.x, first, count, block);
    host::write_block(block, first, count, k.y);
  });
}

}  // namespace mpitron::kernels
