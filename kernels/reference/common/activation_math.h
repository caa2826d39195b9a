#pragma once
#include "kernels/linear/matmul.h"

namespace mpitron::kernels::reference {

/// The formulas of kernels/elementwise/activation.h and their derivatives, in double.
double activate(Activation activation, double x);
double activation_slope(Activation activation, double x);

}  // namespace mpitron::kernels::reference
