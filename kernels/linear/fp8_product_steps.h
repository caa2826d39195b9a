#pragma once
#include "kernels/linear/fp8_matmul.h"
#include "kernels/linear/grouped_matmul.h"

// A product of factors of 8 bits where nothing multiplies them as they are: numbers of both formats
// are numbers of bf16, whose products accumulate in fp32 as well.

namespace mpitron::kernels {

/// y = the numbers that a factor stands for; with one scale for all, before its division.
///
/// Numerical contract: exact (blocks with a largest value below 2^-100 may lose bits).
struct Fp8Decode {
  static constexpr const char* name = "fp8_decode";
  Fp8Factor x;  // [t, h]
  Out y;        // [t, h], bf16

  template <class F>
  void views(F&& f) const {
    f("x", x.values), f("amax", x.amax), f("y", y);
  }
};

/// c = sums / (scale of a * scale of b) + bias, or += without bias: the end of a product whose
/// factors have one scale each.
///
/// Numerical contract: fp32, the reciprocals of the scales rounded; c fp32 or bf16, rounded once.
struct Fp8Finish {
  static constexpr const char* name = "fp8_finish";
  In sums;            // [m, n], fp32
  In a_amax, b_amax;  // [1, 1], fp32
  In bias;            // [n], as c; optional
  InOut c;            // [m, n]
  Fp8Scaling a_scaling, b_scaling;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("sums", sums), f("a_amax", a_amax), f("b_amax", b_amax), f("bias", bias), f("c", c);
  }
};

/// Returns the factor of sums.
constexpr float fp8_product_factor(float a_amax, const Fp8Scaling& a, float b_amax,
                                   const Fp8Scaling& b) {
  return (1 / fp8_scale(a_amax, a)) * (1 / fp8_scale(b_amax, b));
}

void run(device::ReferenceStream&, const Fp8Decode&);
void run(device::ReferenceStream&, const Fp8Finish&);
void run(device::HostStream&, const Fp8Decode&);
void run(device::HostStream&, const Fp8Finish&);
void run(device::CudaStream&, const Fp8Decode&);
void run(device::CudaStream&, const Fp8Finish&);

/// The steps of one product and the memory between them, in the product's workspace.
class Fp8ProductInBf16 {
 public:
  explicit Fp8ProductInBf16(const Fp8Matmul& kernel)
      : kernel_(kernel), whole_(kernel.a.blocks.whole()) {
    const auto address = reinterpret_cast<std::uintptr_t>(kernel.workspace.data);
    next_ = (address + kAlignment - 1) / kAlignment * kAlignment;
    a_ = place(DType::bf16, kernel.a.values.shape);
    b_ = place(DType::bf16, kernel.b.values.shape);
    product_ = {.a = a_, .b = b_, .bias = {}, .c = kernel.c, .workspace = {}, .transpose_b = true};
    if (whole_) {
      product_.c = place(DType::f32, kernel.c.shape);
    } else {
      product_.bias = kernel.bias;
      product_.accumulate = kernel.accumulate;
    }
  }

  template <class Stream>
  Index workspace_bytes(const Stream& stream) const {
    return bytes_ + workspace_bytes_of_product(stream) + kAlignment;
  }
  template <class Stream>
  void run_on(Stream& stream) {
    MPITRON_CHECK(kernel_.workspace.bytes() >= workspace_bytes(stream), kernel_.workspace.bytes());
    run(stream, Fp8Decode{kernel_.a, a_});
    run(stream, Fp8Decode{kernel_.b, b_});
    product_.workspace = place(DType::u8, {workspace_bytes_of_product(stream)});
    as_kernel([&](const auto& product) { run(stream, product); });
    if (whole_) {
      run(stream, Fp8Finish{product_.c, kernel_.a.amax, kernel_.b.amax, kernel_.bias, kernel_.c,
                            kernel_.a.scaling, kernel_.b.scaling, kernel_.accumulate});
    }
  }

 private:
  static constexpr std::uintptr_t kAlignment = 256;

  device::TensorView place(DType dtype, const Shape& shape) {
    const device::TensorView view(reinterpret_cast<void*>(next_), dtype, shape);
    const auto bytes = static_cast<std::uintptr_t>(shape.numel()) * size_of(dtype);
    const std::uintptr_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    next_ += rounded;
    bytes_ += static_cast<Index>(rounded);
    return view;
  }
  template <class Stream>
  Index workspace_bytes_of_product(const Stream& stream) const {
    Index bytes = 0;
    as_kernel([&](const auto& product) { bytes = kernels::workspace_bytes(stream, product); });
    return bytes;
  }
  /// Where only rows are multiplied, they are one group: as those of an expert there may be another
  /// number of them each time, for which products are not planned one by one.
  template <class F>
  void as_kernel(F&& f) const {
    if (product_.bias || product_.accumulate) {
      return f(product_);
    }
    const Index rows = product_.a.size(0);
    f(GroupedMatmul{.a = product_.a,
                    .b = {&product_.b, 1},
                    .c = product_.c,
                    .counts = {&rows, 1},
                    .workspace = product_.workspace,
                    .transpose_b = product_.transpose_b});
  }

  const Fp8Matmul& kernel_;
  bool whole_;
  std::uintptr_t next_;
  Index bytes_ = 0;
  device::TensorView a_, b_;
  Matmul product_;
};

}  // namespace mpitron::kernels
