// Products without oneDNN: fp32 alone (other types come as fp32 copies), rows on threads. Right,
// but about ten times slower.
// Numerical contract: that of kernels/linear/matmul.h; every sum runs over k in order.
#include "kernels/host/linear/gemm.h"

#include <algorithm>

#include "kernels/host/common/parallel.h"
#include "kernels/reference/common/activation_math.h"

namespace mpitron::kernels::host {
namespace {

/// sums[n] += a[k] b[k, n] over all k; neighbours in a are `a_step` apart.
void add_products(const GemmProblem& p, const float* a, Index a_step, const float* b, float* sums) {
  for (Index k = 0; k < p.k; ++k) {
    const float scale = a[k * a_step];
    const float* row = b + k * p.b_stride;
    for (Index n = 0; n < p.n; ++n) {
      sums[n] += scale * row[n];
    }
  }
}

/// The same with b[n, k].
void add_dot_products(const GemmProblem& p, const float* a, Index a_step, const float* b,
                      float* sums) {
  for (Index n = 0; n < p.n; ++n) {
    const float* row = b + n * p.b_stride;
    float sum = sums[n];
    for (Index k = 0; k < p.k; ++k) {
      sum += a[k * a_step] * row[k];
    }
    sums[n] = sum;
  }
}

/// One row of c from one row of a.
void multiply_row(const GemmProblem& p, const float* a, Index a_step, const float* b, float* c) {
  if (!p.accumulate) {
    std::fill_n(c, p.n, 0.F);
  }
  (p.b_transposed ? add_dot_products : add_products)(p, a, a_step, b, c);
}

void finish_row(const GemmProblem& p, const float* bias, float* c) {
  for (Index n = 0; n < p.n; ++n) {
    const double sum = c[n] + (bias != nullptr ? bias[n] : 0.F);
    c[n] = static_cast<float>(reference::activate(p.activation, sum));
  }
}

}  // namespace

struct Gemm::Primitives {};

Gemm::Gemm(const GemmProblem& problem) : problem_(problem) {}
Gemm::~Gemm() = default;

Gemm& Gemm::of(const GemmProblem& problem) {
  thread_local std::unique_ptr<Gemm> latest;
  if (latest == nullptr || !(latest->problem_ == problem)) {
    latest = std::make_unique<Gemm>(problem);
  }
  return *latest;
}

bool Gemm::multiplies(DType type) {
  return type == DType::f32;
}

bool Gemm::packs(DType) {
  return false;
}

Index Gemm::packed_bytes() const {
  return 0;
}

void Gemm::pack(const void*, void*) {}

void Gemm::run(const void* a, const void* b, const void* bias, void* c) {
  const GemmProblem& p = problem_;
  MPITRON_CHECK(p.c_type == DType::f32, name_of(p.c_type));
  for_blocks(p.m, p.m * p.n * p.k, [&](Index row) {
    float* c_row = static_cast<float*>(c) + row * p.c_stride;
    multiply_row(p, static_cast<const float*>(a) + row * p.a_stride, 1,
                 static_cast<const float*>(b), c_row);
    if (p.has_bias || p.activation != Activation::none) {
      finish_row(p, static_cast<const float*>(bias), c_row);
    }
  });
}

void multiply_alone(const PlainProduct& product) {
  const GemmProblem p{.m = product.m,
                      .n = product.n,
                      .k = product.k,
                      .b_stride = product.b_stride,
                      .b_transposed = product.transpose_b,
                      .accumulate = product.accumulate};
  for (Index row = 0; row < p.m; ++row) {
    const float* a = product.a + row * (product.transpose_a ? 1 : product.a_stride);
    multiply_row(p, a, product.transpose_a ? product.a_stride : 1, product.b,
                 product.c + row * product.c_stride);
  }
}

LibraryVersion onednn_version() {
  return {"oneDNN", "left out", ""};
}

}  // namespace mpitron::kernels::host
