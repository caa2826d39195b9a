#pragma once
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>

#include <gtest/gtest.h>

#include "device_under_test.h"
#include "tests/kernels/test_log.h"
#include "tests/kernels/test_tensor.h"

// Kernels of the tested device (on_host/ or on_cuda/device_under_test.h: the include path chooses)
// against the reference kernels: both run on the same numbers, in the same awkward layout.

namespace mpitron::kernels {

/// Where a tensor lies: elements before its start (so that it is not aligned), elements between
/// its rows.
struct Layout {
  Index offset = 0;
  Index gap = 0;
};

/// A strided tensor whose every byte, gaps included, starts as 0xff: NaN in every floating type.
class StridedTensor {
 public:
  StridedTensor(DType dtype, const Shape& shape, Layout layout)
      : dtype_(dtype),
        shape_(shape),
        offset_(layout.offset + kGuard),
        strides_(strides_of(shape, layout)),
        memory_(static_cast<std::size_t>(strides_[0] * shape[0] + layout.gap + offset_ + kGuard) *
                    size_of(dtype),
                std::byte{0xff}) {}
  device::TensorView view() {
    return {memory_.data() + static_cast<std::size_t>(offset_) * size_of(dtype_), dtype_, shape_,
            strides_};
  }
  void fill(const std::vector<double>& values) {
    const reference::Writer writer(view());
    for_offsets([&](Index i, Index offset) { store(offset, values[static_cast<std::size_t>(i)]); });
  }
  std::vector<double> values() {
    std::vector<double> result;
    for_offsets([&](Index, Index offset) { result.push_back(load(offset)); });
    return result;
  }
  /// The bytes outside the elements: nobody may touch them.
  std::vector<std::byte> surroundings() {
    std::vector<std::byte> copy = bytes();
    for_offsets([&](Index, Index offset) {
      std::memset(copy.data() + static_cast<std::size_t>(offset_ + offset) * size_of(dtype_), 0,
                  size_of(dtype_));
    });
    return copy;
  }
  std::vector<std::byte> bytes() const { return {memory_.bytes().begin(), memory_.bytes().end()}; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }

 private:
  static constexpr Index kGuard = 64;

  static device::Strides strides_of(const Shape& shape, Layout layout) {
    device::Strides strides{};
    Index step = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      strides[static_cast<std::size_t>(i)] = step;
      step = step * shape[i] + layout.gap;
    }
    return strides;
  }

  void store(Index offset, double value) {
    if (dtype_ == DType::i64) {
      view().as<std::int64_t>()[offset] = static_cast<std::int64_t>(value);
    } else {
      reference::store_element(view().data, dtype_, offset, value);
    }
  }
  double load(Index offset) {
    return dtype_ == DType::i64 ? static_cast<double>(view().as<std::int64_t>()[offset])
                                : reference::load_element(view().data, dtype_, offset);
  }
  template <class F>
  void for_offsets(F&& f) {
    for (Index i = 0; i < shape_.numel(); ++i) {
      Index rest = i, offset = 0;
      for (int dim = shape_.rank() - 1; dim >= 0; --dim) {
        offset += rest % shape_[dim] * strides_[static_cast<std::size_t>(dim)];
        rest /= shape_[dim];
      }
      f(i, offset);
    }
  }

  DType dtype_;
  Shape shape_;
  Index offset_;
  device::Strides strides_;
  TestBlock memory_;
};

enum Side { reference_side, tested_side };

/// A tensor on both sides.
struct Twin {
  StridedTensor sides[2];
  bool written;

  device::TensorView operator()(Side side) { return sides[side].view(); }
  void fill(const std::vector<double>& values) {
    sides[0].fill(values);
    sides[1].fill(values);
  }
};

/// The tensors of one case; `check` runs a kernel on both sides and compares them.
class Workbench {
 public:
  explicit Workbench(Layout layout = {}) : layout_(layout) {}

  /// Numbers in [-scale, scale).
  Twin& input(DType dtype, const Shape& shape, double scale = 1) {
    return filled(dtype, shape, scale, false);
  }
  Twin& inout(DType dtype, const Shape& shape, double scale = 1) {
    return filled(dtype, shape, scale, true);
  }
  Twin& output(DType dtype, const Shape& shape) { return add(dtype, shape, true); }
  Twin& integers(const std::vector<double>& values) {
    return integers(values, {static_cast<Index>(values.size())});
  }
  Twin& integers(const std::vector<double>& values, const Shape& shape) {
    Twin& twin = add(DType::i64, shape, false);
    twin.fill(values);
    return twin;
  }

  /// make(side) is the kernel on that side; `tolerance` bounds the error before the last rounding,
  /// relative to the largest element of each output.
  template <class F>
  void check(F&& make, double tolerance) {
    device::ReferenceStream reference;
    std::vector<std::vector<std::byte>> outside, before;
    for (Twin& twin : twins_) {
      outside.push_back(twin.sides[tested_side].surroundings());
      before.push_back(twin.sides[tested_side].bytes());
    }
    run(reference, make(reference_side));
    run_on_device(make(tested_side));
    double error = 0;
    for (std::size_t i = 0; i < twins_.size(); ++i) {
      StridedTensor& side = twins_[i].sides[tested_side];
      EXPECT_TRUE(side.surroundings() == outside[i]) << "written outside of argument " << i;
      if (twins_[i].written) {
        compare(i, tolerance, error);
      } else {
        EXPECT_TRUE(side.bytes() == before[i]) << "input " << i << " was written";
      }
    }
    log_error(decltype(make(tested_side))::name, error, tolerance);
  }

 private:
  Twin& add(DType dtype, const Shape& shape, bool written) {
    const Layout layout = shape.rank() > 1 ? layout_ : Layout{layout_.offset, 0};
    return twins_.emplace_back(
        Twin{{StridedTensor(dtype, shape, layout), StridedTensor(dtype, shape, layout)}, written});
  }
  Twin& filled(DType dtype, const Shape& shape, double scale, bool written) {
    Twin& twin = add(dtype, shape, written);
    std::vector<double> values = test_values(shape.numel(), seed_++);
    for (double& value : values) {
      value *= scale;
    }
    twin.fill(values);
    return twin;
  }
  static double unit_in_last_place(DType dtype) {
    return dtype == DType::bf16 ? 0x1p-7 : dtype == DType::f16 ? 0x1p-10 : 0;
  }
  /// `error`: becomes the largest difference beyond a rounding to the narrow type, relative to the
  /// largest element, if it is larger.
  void compare(std::size_t i, double tolerance, double& error) {
    const std::vector<double> want = twins_[i].sides[reference_side].values();
    const std::vector<double> got = twins_[i].sides[tested_side].values();
    const DType dtype = twins_[i].sides[0].dtype();
    double largest = 0;
    for (const double value : want) {
      largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0);
    }
    Index flips = 0;
    for (std::size_t j = 0; j < want.size(); ++j) {
      if (want[j] == got[j] || (std::isnan(want[j]) && std::isnan(got[j]))) {
        continue;
      }
      const double rounding = unit_in_last_place(dtype) * std::abs(want[j]);
      error = std::max(error, (std::abs(want[j] - got[j]) - rounding) / largest);
      flips += std::abs(want[j] - got[j]) > tolerance * largest ? 1 : 0;
      const double allowed = tolerance * largest + rounding;
      ASSERT_LE(std::abs(want[j] - got[j]), allowed)
          << "argument " << i << ", element " << j << " of "
          << to_string(twins_[i].sides[0].shape()) << " " << name_of(dtype) << ": " << got[j]
          << ", reference " << want[j];
    }
    // fp32 errors turn few roundings to a narrow type; a kernel that rounds twice turns many.
    if (unit_in_last_place(dtype) > 0) {
      EXPECT_LE(flips, 3 + static_cast<Index>(want.size()) / 30) << "argument " << i;
    }
  }

  Layout layout_;
  unsigned seed_ = 1;
  std::deque<Twin> twins_;
};

inline constexpr DType kTrainingTypes[] = {DType::f32, DType::bf16, DType::f16};
/// Around the sixteen lanes, the four chains of a sum and the tile of 4096.
inline constexpr Index kOddSizes[] = {1, 3, 15, 16, 17, 63, 64, 65, 130, 1000};
inline constexpr Layout kLayouts[] = {{0, 0}, {1, 3}};

}  // namespace mpitron::kernels
