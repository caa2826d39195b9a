#pragma once
#include <cstdint>
#include <memory>

#include "kernels/linear/gemm_choice.h"

namespace mpitron::kernels::cuda {

/// The largest power of two up to 256 that divides an address.
std::uint16_t alignment_of(const void* address);

/// A planned product: cuBLASLt's descriptors and the algorithm that was chosen for the shape, or
/// that the library's heuristic names first. Sums are taken in fp32 without TF32 (fp64: in double),
/// and an algorithm that splits k keeps the parts in that precision and adds them in a fixed order:
/// an algorithm's bits are the same in every run.
class Gemm {
 public:
  /// The plan for a GPU and a shape, kept for the thread that asks; valid until the next call.
  static Gemm& of(int device, const GemmShape& shape);
  /// The same, or null where the library has no algorithm.
  static Gemm* find(int device, const GemmShape& shape);
  /// kernels/linear/gemm_choice.h
  static std::vector<GemmAlgorithm> candidates(int device, const GemmShape& shape);
  Gemm(int device, const GemmShape& shape);
  ~Gemm();

  Index workspace_bytes() const;

  struct Operands {
    const void *a, *b, *bias;
    void *c, *workspace;
    /// By which numbers of 8 bits are multiplied; on the GPU.
    const float *a_factor = nullptr, *b_factor = nullptr;
  };
  void run(device::CudaStream& stream, const Operands& operands);

 private:
  struct Plan;
  static Gemm& kept(int device, const GemmShape& shape);
  std::unique_ptr<Plan> plan_;
};

}  // namespace mpitron::kernels::cuda
