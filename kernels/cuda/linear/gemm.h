#pragma once
#include <cstdint>
#include <memory>

#include "kernels/linear/gemm_choice.h"

namespace mpitron::kernels::cuda {

/// Returns the largest power of two up to 256 that divides an address; algorithms depend on it.
std::uint16_t alignment_of(const void* address);

/// Plans a product: cuBLASLt's descriptors and the algorithm that was chosen for the shape, or that
/// the library's heuristic names first. Sums are taken in fp32 without TF32 (fp64: in double), and
/// an algorithm that splits k keeps the parts in that precision and adds them in a fixed order: an
/// algorithm's bits are the same in every run.
class Gemm {
 public:
  /// Returns the plan for a GPU and a shape, kept for the thread that asks; valid until the next
  /// call.
  static Gemm& of(int device, const GemmShape& shape);
  /// Returns the same, or null where the library has no algorithm.
  static Gemm* find(int device, const GemmShape& shape);
  /// Lists the algorithms that a tuning may choose from (kernels/linear/gemm_choice.h).
  static std::vector<GemmAlgorithm> candidates(int device, const GemmShape& shape);
  Gemm(int device, const GemmShape& shape);
  ~Gemm();

  Index workspace_bytes() const;

  struct Operands {
    const void *a, *b, *bias;
    void *c, *workspace;
    /// Scales of factors in 8 bits, aligned to 16 bytes; on the GPU.
    const float *a_factor = nullptr, *b_factor = nullptr;
  };
  void run(device::CudaStream& stream, const Operands& operands);

 private:
  struct Plan;
  static Gemm& kept(int device, const GemmShape& shape);
  std::unique_ptr<Plan> plan_;
};

}  // namespace mpitron::kernels::cuda
