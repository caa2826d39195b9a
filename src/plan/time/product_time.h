#pragma once
#include "plan/machine/machine.h"

namespace mpitron::plan {

/// `count` products of m x k by k x n.
struct Product {
  double m = 0;
  double n = 0;
  double k = 0;
  double count = 1;
  Precision precision = Precision::bf16;
};

/// Returns the seconds: whole tiles in whole waves over the multiprocessors, losing more where k is
/// short; never below the time that its operands' bytes need.
double product_time(const Machine& machine, const Product& product);

}  // namespace mpitron::plan
