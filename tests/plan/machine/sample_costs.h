#pragma once

#include "plan/machine/measured_costs.h"
#include "utils/error.h"

// Costs of a few kernels and messages.

namespace mpitron::plan {

inline device::LaunchRecord launch_of(const char* kernel, Index rows, double multiply_adds) {
  return {.kernel = kernel,
          .device = "host",
          .bytes = 4 * rows,
          .multiply_adds = multiply_adds,
          .dtype = DType::f32,
          .shapes = {Shape{rows, rows}, Shape{rows, rows}},
          .arguments = {}};
}

inline TimedKernel matmul(Index rows, double seconds, Index ranks = 1) {
  const auto n = static_cast<double>(rows);
  return {.kernel = "matmul",
          .dtype = DType::f32,
          .ranks = ranks,
          .extents = {rows, rows, rows, rows},
          .work = n * n * n,
          .seconds = seconds};
}

/// Products of 64 and 512 rows, and two sizes of a reduction.
inline MeasuredCosts sample() {
  MeasuredCosts costs;
  costs.add(matmul(64, 1e-4));
  costs.add(matmul(512, 1e-2));
  costs.add(TimedOperation{comm::CollectiveKind::all_reduce, 2, 1000, 1e-3});
  costs.add(TimedOperation{comm::CollectiveKind::all_reduce, 2, 3000, 2e-3});
  costs.set_launch(1, 1e-6);
  costs.set_together(2, 1.25);
  return costs;
}

}  // namespace mpitron::plan
