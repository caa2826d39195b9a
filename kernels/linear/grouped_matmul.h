#pragma once
#include <span>

#include "kernels/linear/matmul.h"

namespace mpitron::kernels {

// Matrix products of experts: the rows of a [m, k] lie group after group, counts[e] of them in
// group e, and each group has a matrix of its own. One call for all groups, however uneven: work is
// shared out in blocks, and no row is copied.
//
// Numerical contract: types, accumulation and order as matmul.h; the reduction runs in
// blocks cut by a group's own size alone, so that the bits depend neither on the number of threads
// nor on other groups.

/// c_e = a_e b_e, or a_e b_e^T with transpose_b. A group without rows reads and writes nothing.
struct GroupedMatmul {
  static constexpr const char* name = "grouped_matmul";
  In a;                           // [m, k]
  std::span<const In> b;          // of each group [k, n], or [n, k] with transpose_b
  Out c;                          // [m, n]
  std::span<const Index> counts;  // of each group; sum m
  Out workspace;
  bool transpose_b = false;

  template <class F>
  void views(F&& f) const {
    f("a", a), f("c", c);
    for (const In& matrix : b) {
      f("b", matrix);
    }
  }
  double multiply_adds() const {
    return static_cast<double>(a.numel()) * static_cast<double>(c.size(1));
  }
};

/// Place where the gradient of a group's matrix goes.
struct GroupGradient {
  InOut gradient;           // [p, q]; absent: this group is left out
  bool accumulate = false;  // += instead of =
};

/// gradient_e = (or +=) a_e^T b_e; nothing is written for a group without rows or gradient.
struct GroupedWeightGradient {
  static constexpr const char* name = "grouped_weight_gradient";
  In a;                              // [m, p]
  In b;                              // [m, q]
  std::span<const GroupGradient> c;  // of each group
  std::span<const Index> counts;     // of each group; sum m
  Out workspace;

  template <class F>
  void views(F&& f) const {
    f("a", a), f("b", b);
    for (const GroupGradient& group : c) {
      f("c", group.gradient);
    }
  }
  double multiply_adds() const {
    return static_cast<double>(a.numel()) * static_cast<double>(b.size(1));
  }
};

void run(device::ReferenceStream&, const GroupedMatmul&);
void run(device::ReferenceStream&, const GroupedWeightGradient&);
void run(device::HostStream&, const GroupedMatmul&);
void run(device::HostStream&, const GroupedWeightGradient&);
void run(device::CudaStream&, const GroupedMatmul&);
void run(device::CudaStream&, const GroupedWeightGradient&);
Index workspace_bytes(const device::HostStream&, const GroupedMatmul&);
Index workspace_bytes(const device::CudaStream&, const GroupedMatmul&);
Index workspace_bytes(const device::HostStream&, const GroupedWeightGradient&);
Index workspace_bytes(const device::CudaStream&, const GroupedWeightGradient&);

/// Calls f(group, begin, end) with the rows of each group that has some.
template <class F>
void for_groups(std::span<const Index> counts, F&& f) {
  Index begin = 0;
  for (std::size_t group = 0; group < counts.size(); ++group) {
    if (counts[group] > 0) {
      f(group, begin, begin + counts[group]);
    }
    begin += counts[group];
  }
}

/// Calls f for the groups that have a gradient.
template <class F>
void for_groups(const GroupedWeightGradient& kernel, F&& f) {
  for_groups(kernel.counts, [&](std::size_t group, Index begin, Index end) {
    if (kernel.c[group].gradient) {
      f(group, begin, end);
    }
  });
}

/// The kernel as a product for each group that has rows (and a gradient): f(product) in order.
template <class F>
void for_products(const GroupedMatmul& kernel, F&& f) {
  for_groups(kernel.counts, [&](std::size_t group, Index begin, Index end) {
    f(Matmul{.a = device::slice(kernel.a, 0, begin, end),
             .b = kernel.b[group],
             .c = device::slice(kernel.c, 0, begin, end),
             .transpose_b = kernel.transpose_b});
  });
}

template <class F>
void for_products(const GroupedWeightGradient& kernel, F&& f) {
  for_groups(kernel, [&](std::size_t group, Index begin, Index end) {
    f(Matmul{.a = device::slice(kernel.a, 0, begin, end),
             .b = device::slice(kernel.b, 0, begin, end),
             .c = kernel.c[group].gradient,
             .transpose_a = true,
             .accumulate = kernel.c[group].accumulate});
  });
}

}  // namespace mpitron::kernels
