#include "kernels/reference/common/stored_numbers.h"

#include <algorithm>

namespace mpitron::kernels {
namespace reference {
namespace {

bool is_scaled(const StoredNumbers& x) {
  return static_cast<bool>(x.exponents);
}

stored::Scaled type_of(const StoredNumbers& x) {
  return x.values.dtype == DType::u8 ? stored::e4m3() : stored::fp16();
}

/// Reads one number: two halves of a master make one fp32; scaled ones take their block's power of
/// two.
double read_one(const StoredNumbers& x, Index i) {
  if (x.values.dtype == DType::i16) {
    return stored::whole({x.upper.as<BFloat16>()[i].bits, x.values.as<std::int16_t>()[i]});
  }
  if (!is_scaled(x)) {
    return load_element(x.values.data, x.values.dtype, i);
  }
  const float scaled = x.values.dtype == DType::u8
                           ? stored::from_e4m3(x.values.as<std::uint8_t>()[i])
                           : static_cast<float>(x.values.as<Float16>()[i]);
  const std::uint8_t exponent = x.exponents.as<std::uint8_t>()[i / StoredNumbers::kBlock];
  return scaled * stored::inverse_scale(exponent, type_of(x));
}

/// A block's scale brings its largest number just below the format's largest.
void write_scaled(const std::vector<double>& numbers, Index first, const StoredNumbers& y) {
  const Index end = std::min(first + StoredNumbers::kBlock, y.numel());
  const auto number = [&](Index i) { return static_cast<float>(numbers[static_cast<size_t>(i)]); };
  std::uint32_t largest = 0;
  for (Index i = first; i < end; ++i) {
    largest = std::max(largest, stored::magnitude_bits(number(i)));
  }
  const std::uint8_t exponent = stored::block_exponent(largest, type_of(y));
  y.exponents.as<std::uint8_t>()[first / StoredNumbers::kBlock] = exponent;
  for (Index i = first; i < end; ++i) {
    float scaled = number(i) * stored::scale(exponent, type_of(y));
    if (y.keeps_nonzero) {
      scaled = stored::above_zero(scaled, type_of(y));
    }
    if (y.values.dtype == DType::u8) {
      y.values.as<std::uint8_t>()[i] = stored::e4m3_of(scaled);
    } else {
      y.values.as<Float16>()[i] = Float16(scaled);
    }
  }
}

}  // namespace

/// Returns the numbers that are stored, as the arithmetic sees them.
std::vector<double> read_stored(const StoredNumbers& x) {
  std::vector<double> numbers(static_cast<std::size_t>(x.numel()));
  for (Index i = 0; i < x.numel(); ++i) {
    numbers[static_cast<std::size_t>(i)] = read_one(x, i);
  }
  return numbers;
}

/// Writes blocks for scaled types, one by one otherwise.
void write_stored(const std::vector<double>& numbers, const StoredNumbers& y) {
  if (is_scaled(y)) {
    for (Index first = 0; first < y.numel(); first += StoredNumbers::kBlock) {
      write_scaled(numbers, first, y);
    }
    return;
  }
  for (Index i = 0; i < y.numel(); ++i) {
    const double number = numbers[static_cast<std::size_t>(i)];
    if (y.values.dtype == DType::i16) {
      const stored::Halves halves = stored::halves_of(static_cast<float>(number));
      y.upper.as<BFloat16>()[i].bits = halves.upper;
      y.values.as<std::int16_t>()[i] = halves.rest;
    } else {
      store_element(y.values.data, y.values.dtype, i, number);
    }
  }
}

}  // namespace reference

void run(device::ReferenceStream&, const ReadStored& k) {
  reference::write_stored(reference::read_stored(k.x), StoredNumbers(k.y));
}

/// Stores fp32 numbers through double, which is exact for every stored type.
void run(device::ReferenceStream&, const WriteStored& k) {
  const reference::Reader x(k.x);
  std::vector<double> numbers;
  for (Index i = 0; i < k.y.numel(); ++i) {
    numbers.push_back(x(i));
  }
  reference::write_stored(numbers, k.y);
}

}  // namespace mpitron::kernels
