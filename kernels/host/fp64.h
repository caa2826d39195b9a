#pragma once
#include "device/streams.h"
#include "utils/dtype.h"

namespace mpitron::kernels::host {

/// Only routers compute in fp64 (--moe-router-dtype): the host takes the reference's plain loops
/// there. True if it did.
template <class Kernel>
bool run_fp64(const Kernel& kernel, DType dtype) {
  if (dtype != DType::f64) {
    return false;
  }
  device::ReferenceStream plain;
  run(plain, kernel);
  return true;
}

}  // namespace mpitron::kernels::host
