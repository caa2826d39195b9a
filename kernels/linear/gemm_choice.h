#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/linear/met_shapes.h"
#include "utils/numbers/float8.h"

// Which of cuBLASLt's algorithms multiplies on a GPU (gemm.cpp). All keep the contract
// of matmul.h and repeat their bits, but the order of their sums differs, so that runs
// repeat bit for bit only with the same choices.
namespace mpitron::kernels {

/// Where the second of two scales lies behind the first: cuBLASLt refuses one that is not aligned
/// to 16 bytes.
inline constexpr Index kFactorStride = 4;

/// Function that is applied to the sums of a product before they are rounded.
enum class Epilogue : std::uint8_t { none, bias };
constexpr Epilogue kEpilogues[] = {Epilogue::none, Epilogue::bias};
constexpr const char* name_of(Epilogue epilogue) {
  constexpr const char* kNames[] = {"none", "bias"};
  return kNames[static_cast<int>(epilogue)];
}

/// One matrix product on one GPU: c = epilogue(op(a) op(b)), or c += op(a) op(b); c is [m, n], k
/// the reduced dimension, all row-major. How pointers are aligned belongs to the shape, because it
/// decides which algorithms may read them.
struct GemmShape {
  Index m = 0, n = 0, k = 0;
  Index a_stride = 0, b_stride = 0, c_stride = 0;  // between rows, in elements
  DType type = DType::f32;    // of a and b: fp32, bf16, fp16 or fp64, or u8: numbers of 8 bits
  DType c_type = DType::f32;  // and of the bias
  Fp8Format a_format = Fp8Format::e4m3, b_format = Fp8Format::e4m3;  // of numbers of 8 bits
  Epilogue epilogue = Epilogue::none;
  bool transpose_a = false, transpose_b = false;
  bool accumulate = false;
  std::uint16_t a_alignment = 256, b_alignment = 256, c_alignment = 256;  // bytes, powers of two

  auto operator<=>(const GemmShape&) const = default;

  bool has_bias() const { return epilogue == Epilogue::bias; }
};

/// One of cuBLASLt's algorithms with its settings, in the library's numbers ("cublasLtMatmulAlgo_t"
/// and "cublasLtMatmulAlgoConfigAttributes_t" of its manual): they mean the same in one version of
/// it, on GPUs of one kind. 0: what an algorithm starts with.
struct GemmAlgorithm {
  std::int32_t id = 0;
  std::int32_t tile = 0, stages = 0;
  std::int32_t split_k = 1, reduction = 0;  // parts of k, and how they are added
  std::int32_t swizzle = 0, custom = 0, inner_shape = 0, cluster = 0;

  auto operator<=>(const GemmAlgorithm&) const = default;
};

/// Ways of multiplying on a GPU. automatic: cuBLASLt, and our own kernel for the small products of
/// experts; cublaslt: the library alone; mma: our own kernel for every product that it takes (half
/// types, aligned rows, no bias or activation), the library for the others.
enum class MatmulKernel : std::uint8_t { automatic, cublaslt, mma };
constexpr MatmulKernel kMatmulKernels[] = {MatmulKernel::automatic, MatmulKernel::cublaslt,
                                           MatmulKernel::mma};
constexpr const char* name_of(MatmulKernel kernel) {
  constexpr const char* kNames[] = {"auto", "cublaslt", "mma"};
  return kNames[static_cast<int>(kernel)];
}
/// Way of this process; written only while nothing is launched.
MatmulKernel& matmul_kernel();

using GemmAlgorithms = std::map<GemmShape, std::optional<GemmAlgorithm>>;

/// The algorithms of shapes; without a value, or without an entry, the library's own first answer.
const GemmAlgorithms& gemm_algorithms();
/// While nothing is launched.
void choose_gemm_algorithms(GemmAlgorithms algorithms);
/// Counts the calls of `choose_gemm_algorithms`: what was planned before one is out of date.
std::uint64_t gemm_choice();
/// Products in fp32, half types and 8 bits without an entry.
MetShapes<GemmShape>& met_gemms();

/// While one lives, this thread's products have sizes that will not come again, as the rows of an
/// expert: they are not noted.
class PassingSizes {
 public:
  PassingSizes();
  ~PassingSizes();
  PassingSizes(const PassingSizes&) = delete;
  PassingSizes& operator=(const PassingSizes&) = delete;
  /// Whether this thread is within one.
  static bool here();
};

/// Returns, of the library's first answers for a shape, those that can be made again from their
/// numbers, and that add in a fixed order.
std::vector<GemmAlgorithm> candidates(const device::CudaStream&, const GemmShape&);
/// Returns the version as cuBLASLt counts: 130100 is 13.1.0.
Index gemm_library_version(const device::CudaStream&);

/// A product of a shape, by what is chosen for it: for measuring. Its tensors are where the
/// elements lie, in any shape.
struct GemmOfShape {
  static constexpr const char* name = "gemm_of_shape";
  GemmShape shape;
  device::In a, b, bias;
  device::In factors;  // fp32, kFactorStride apart: of a and of b, where these have 8 bits
  device::Out c, workspace;

  template <class F>
  void views(F&& f) const {
    f("a", a), f("b", b), f("bias", bias), f("factors", factors), f("c", c);
  }
};
void run(device::CudaStream&, const GemmOfShape&);
Index workspace_bytes(const device::CudaStream&, const GemmOfShape&);

}  // namespace mpitron::kernels
