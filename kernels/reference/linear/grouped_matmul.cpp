#include "kernels/linear/grouped_matmul.h"

namespace mpitron::kernels {

/// Multiplies groups one after the other; rows of no group stay as they are.
void run(device::ReferenceStream& stream, const GroupedMatmul& kernel) {
  for_groups(kernel.counts, [&](std::size_t group, Index begin, Index end) {
    run(stream, Matmul{.a = device::slice(kernel.a, 0, begin, end),
                       .b = kernel.b[group],
                       .c = device::slice(kernel.c, 0, begin, end),
                       .transpose_b = kernel.transpose_b});
  });
}

/// Multiplies with a group's rows as k: an expert without visits adds nothing.
void run(device::ReferenceStream& stream, const GroupedWeightGradient& kernel) {
  for_groups(kernel, [&](std::size_t group, Index begin, Index end) {
    run(stream, Matmul{.a = device::slice(kernel.a, 0, begin, end),
                       .b = device::slice(kernel.b, 0, begin, end),
                       .c = kernel.c[group].gradient,
                       .transpose_a = true,
                       .accumulate = kernel.c[group].accumulate});
  });
}

}  // namespace mpitron::kernels
