#pragma once
#include <cmath>

#include "kernels/linear/matmul.h"

namespace mpitron::kernels::reference {

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// The formulas of kernels/elementwise/activation.h and their derivatives, in double.
double activate(Activation activation, double x);
double activation_slope(Activation activation, double x);

}  // namespace mpitron::kernels::reference
