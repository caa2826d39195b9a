#include "kernels/linear/packed_matmul.h"

#include <span>
#include <vector>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Reads element (feature, input) of a packed weight [.., k], by the layout's definition and not by
/// the order in which products read it.
class PackedReader {
 public:
  PackedReader(const std::uint8_t* bytes, WeightFormat format, Index k)
      : bytes_(bytes), format_(format), k_(k) {}

  double operator()(Index feature, Index input) const {
    const std::uint8_t* block = bytes_ + feature / kPackedColumns * packed_block_bytes(format_, k_);
    const std::uint8_t* scales = block + packed_weight_bytes(format_, k_);
    const Index column = feature % kPackedColumns;
    switch (format_) {
      case WeightFormat::fp32:
        return load(block, DType::f32, input * kPackedColumns + column);
      case WeightFormat::fp16:
        return load(block, DType::f16, input * kPackedColumns + column);
      case WeightFormat::bf16:
        return load(block, DType::bf16, packed_place(input, column, 2));
      case WeightFormat::int8:
        return load(scales, DType::f32, column) * (block[packed_place(input, column, 4)] - 128);
      case WeightFormat::q4:
        return load(scales, DType::f16, input / 32 * kPackedColumns + column) *
               (four_bits(block, input, column) - 8);
    }
    return 0;
  }

 private:
  static double load(const std::uint8_t* data, DType type, Index i) {
    return reference::load_element(data, type, i);
  }
  static Index packed_place(Index input, Index column, Index together) {
    return (input / together * kPackedColumns + column) * together + input % together;
  }
  static int four_bits(const std::uint8_t* block, Index input, Index column) {
    const Index of_half = input % 16;
    const std::uint8_t byte =
        block[input / 32 * 16 * kPackedColumns + packed_place(of_half, column, 4)];
    return input % 32 < 16 ? byte & 15 : byte >> 4;
  }

  const std::uint8_t* bytes_;
  WeightFormat format_;
  Index k_;
};

/// Returns a row of x as the product takes it: rounded to 8 bits by groups where weights are
/// integers.
std::vector<double> taken_row(const PackedMatmul& kernel, Index row, Index head) {
  const Index k = kernel.inputs(), group = facts(kernel.format).group;
  const Reader x(kernel.x);
  std::vector<double> values(static_cast<std::size_t>(k));
  for (Index i = 0; i < k; ++i) {
    values[static_cast<std::size_t>(i)] = kernel.x.shape.rank() == 3 ? x(row, head, i) : x(row, i);
  }
  for (Index begin = 0; group > 0 && begin < k; begin += group) {
    const Index end = std::min(begin + group, k);
    const auto part = std::span(values).subspan(static_cast<std::size_t>(begin),
                                                static_cast<std::size_t>(end - begin));
    double largest = 0;
    for (const double value : part) {
      largest = std::max(largest, std::abs(value));
    }
    const float scale = scale_of_8_bits(static_cast<float>(largest));
    const float reciprocal = reciprocal_of(scale);
    for (double& value : part) {
      value = static_cast<double>(scale) * rounded_8_bits(static_cast<float>(value), reciprocal);
    }
  }
  return values;
}

/// Writes the weights of one feature.
class FeaturePacker {
 public:
  FeaturePacker(const PackWeight& kernel, Index feature)
      : weight_(kernel.weight),
        format_(kernel.format),
        k_(kernel.weight.size(1)),
        feature_(feature),
        column_(feature % kPackedColumns),
        block_(kernel.packed.as<std::uint8_t>() +
               feature / kPackedColumns * packed_block_bytes(format_, k_)),
        scales_(block_ + packed_weight_bytes(format_, k_)) {}

  void pack() {
    if (format_ == WeightFormat::int8) {
      pack_8_bits();
    } else if (format_ == WeightFormat::q4) {
      for (Index begin = 0; begin < packed_inputs(format_, k_); begin += 32) {
        pack_4_bits(begin);
      }
    } else {
      pack_numbers();
    }
  }

 private:
  /// Returns a weight, 0 outside of the tensor.
  float value(Index input) const {
    return feature_ < weight_.size(0) && input < k_
               ? static_cast<float>(Reader(weight_)(feature_, input))
               : 0.F;
  }
  void pack_numbers() {
    const DType type = format_ == WeightFormat::fp32   ? DType::f32
                       : format_ == WeightFormat::bf16 ? DType::bf16
                                                       : DType::f16;
    const Index together = format_ == WeightFormat::bf16 ? 2 : 1;
    for (Index i = 0; i < packed_inputs(format_, k_); ++i) {
      reference::store_element(block_, type,
                               (i / together * kPackedColumns + column_) * together + i % together,
                               static_cast<double>(value(i)));
    }
  }
  void pack_8_bits() {
    float largest = 0;
    for (Index i = 0; i < k_; ++i) {
      largest = std::max(largest, std::abs(value(i)));
    }
    const float scale = scale_of_8_bits(largest);
    reference::store_element(scales_, DType::f32, column_, static_cast<double>(scale));
    for (Index i = 0; i < packed_inputs(format_, k_); ++i) {
      block_[(i / 4 * kPackedColumns + column_) * 4 + i % 4] =
          static_cast<std::uint8_t>(rounded_8_bits(value(i), reciprocal_of(scale)) + 128);
    }
  }
  void pack_4_bits(Index begin) {
    float extreme = 0;
    for (Index i = begin; i < begin + 32; ++i) {
      extreme = std::abs(value(i)) > std::abs(extreme) ? value(i) : extreme;
    }
    const Float16 scale = scale_of_4_bits(extreme);
    reference::store_element(scales_, DType::f16, begin / 32 * kPackedColumns + column_,
                             static_cast<double>(static_cast<float>(scale)));
    const float reciprocal = reciprocal_of(static_cast<float>(scale));
    for (Index i = 0; i < 16; ++i) {
      const int low = rounded_4_bits(value(begin + i), reciprocal);
      const int high = rounded_4_bits(value(begin + 16 + i), reciprocal);
      block_[begin / 32 * 16 * kPackedColumns + (i / 4 * kPackedColumns + column_) * 4 + i % 4] =
          static_cast<std::uint8_t>(low + 16 * high);
    }
  }

  In weight_;
  WeightFormat format_;
  Index k_, feature_, column_;
  std::uint8_t* block_;
  std::uint8_t* scales_;
};

}  // namespace

/// Columns of a block that no row fills are zero.
void run(device::ReferenceStream&, const PackWeight& kernel) {
  const Index features = packed_blocks(kernel.weight.size(0)) * kPackedColumns;
  for (Index feature = 0; feature < features; ++feature) {
    FeaturePacker(kernel, feature).pack();
  }
}

/// Sums over k in order, in double; the bias is added before the one rounding.
void run(device::ReferenceStream&, const PackedMatmul& kernel) {
  const Index k = kernel.inputs(), n = kernel.outputs(), heads = kernel.heads();
  const Reader bias(kernel.bias);
  const Writer y(kernel.y);
  for (Index i = 0; i < kernel.y.size(0) * heads; ++i) {
    const Index row = i / heads, head = i % heads;
    const std::vector<double> x = taken_row(kernel, row, head);
    const PackedReader packed(
        kernel.packed.as<std::uint8_t>() + head * packed_bytes(kernel.format, n, k), kernel.format,
        k);
    for (Index column = 0; column < n; ++column) {
      double sum = 0;
      for (Index j = 0; j < k; ++j) {
        sum += x[static_cast<std::size_t>(j)] * packed(column, j);
      }
      sum += kernel.bias ? bias(column) : 0;
      kernel.y.shape.rank() == 3 ? y.set(sum, row, head, column) : y.set(sum, row, column);
    }
  }
}

}  // namespace mpitron::kernels
