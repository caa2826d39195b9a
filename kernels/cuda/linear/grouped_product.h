#pragma once
#include <vector>

#include "kernels/linear/matmul.h"

namespace mpitron::kernels::cuda {

/// Multiplies for experts too small to fill a GPU one by one, as one launch: tiles of all of them,
/// each the work of a block, on tensor cores.
///
/// Numerical contract: that of matmul.h; k in order, in pieces of 16, whatever the other products
/// are.
class GroupedProduct {
 public:
  static constexpr const char* name = "grouped_product";

  /// Whether a product can be one of several: bf16 or fp16 with rows aligned to 16 bytes, c of the
  /// same type (with transpose_a also fp32), no bias or activation.
  static bool takes(const Matmul& product);
  /// All products have the same types, transposes, n and row strides.
  void add(const Matmul& product) { products_.push_back(product); }
  void run(device::CudaStream& stream) const;

 private:
  std::vector<Matmul> products_;
};

}  // namespace mpitron::kernels::cuda
