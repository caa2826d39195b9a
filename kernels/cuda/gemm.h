#pragma once
#include <cstdint>
#include <memory>

#include "device/streams.h"
#include "utils/dtype.h"
#include "utils/float8.h"
#include "utils/shape.h"

namespace mpitron::kernels::cuda {

/// What happens to the sums of a product before they are rounded.
enum class Epilogue : std::uint8_t { none, bias, gelu_tanh, bias_gelu_tanh };

/// One matrix product on one GPU: c = epilogue(op(a) op(b)), or c += op(a) op(b); c is [m, n], k
/// the reduced dimension, all row-major. How pointers are aligned belongs to the problem, because
/// it decides which algorithms may read them.
struct GemmProblem {
  Index m = 0, n = 0, k = 0;
  Index a_stride = 0, b_stride = 0, c_stride = 0;  // between rows, in elements
  std::int16_t device = 0;
  DType type = DType::f32;    // of a and b: fp32, bf16, fp16 or fp64, or u8: numbers of 8 bits
  DType c_type = DType::f32;  // and of the bias
  Fp8Format a_format = Fp8Format::e4m3, b_format = Fp8Format::e4m3;  // of numbers of 8 bits
  Epilogue epilogue = Epilogue::none;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;
  std::uint16_t a_alignment = 256, b_alignment = 256, c_alignment = 256;  // bytes, powers of two

  bool operator==(const GemmProblem&) const = default;
};

/// The largest power of two up to 256 that divides an address.
std::uint16_t alignment_of(const void* address);

/// A planned product: cuBLASLt's descriptors and the algorithm that its heuristic names first. Sums
/// are taken in fp32 without TF32 (fp64: in double), and an algorithm that splits k keeps the parts
/// in that precision and adds them in a fixed order: a problem's bits are the same in every run.
class Gemm {
 public:
  /// The plan of a problem, kept for the thread that asks; valid until the next call.
  static Gemm& of(const GemmProblem& problem);
  /// The same, or null where the library has no algorithm.
  static Gemm* find(const GemmProblem& problem);
  explicit Gemm(const GemmProblem& problem);
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
  static Gemm& kept(const GemmProblem& problem);
  std::unique_ptr<Plan> plan_;
};

}  // namespace mpitron::kernels::cuda
