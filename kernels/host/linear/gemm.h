#pragma once

#include <cstddef>
#include <memory>

#include "kernels/linear/matmul.h"
#include "utils/system/machine.h"

namespace mpitron::kernels::host {

/// A matrix product with all its strides: c = activation(a b + bias), or c += a b. The rows of a
/// [m, k] and c [m, n] are contiguous; of b [k, n] the rows or, with `b_transposed`, the columns.
/// The number of threads belongs to the problem because oneDNN plans for it.
struct GemmProblem {
  Index m = 0, n = 0, k = 0;
  Index a_stride = 0, b_stride = 0, c_stride = 0;  // between rows (b transposed: columns)
  DType type = DType::f32, c_type = DType::f32;    // fp32 or bf16
  DType bias_type = DType::f32;
  Activation activation = Activation::none;
  bool has_bias = false;
  bool b_transposed = false;
  bool b_packed = false;  // `run` gets b as `pack` left it
  bool accumulate = false;
  int threads = 1;

  bool operator==(const GemmProblem&) const = default;
};

/// A planned product: oneDNN's primitives and their argument lists, made once per problem. With
/// AVX-512 (for bf16: with its bf16 products) the plain source never makes oneDNN 2.6 split k over
/// threads (a transposed one does), so the bits do not depend on their number. Older processors
/// split k: there c is cut into blocks that depend on the shape alone, each the work of one thread.
class Gemm {
 public:
  /// The plan of a problem, kept for the thread that asks for as long as it lives.
  static Gemm& of(const GemmProblem& problem);
  /// Whether oneDNN multiplies this type here: bf16 needs AVX-512, and fp16 it never does.
  static bool multiplies(DType type);
  /// Whether oneDNN has a layout of its own for this type, in which b is multiplied faster.
  static bool packs(DType type);
  /// Plans a product; expensive, so callers take `of`.
  explicit Gemm(const GemmProblem& problem);
  ~Gemm();

  /// Bytes of b in oneDNN's layout. `pack` brings a plain b into it.
  Index packed_bytes() const;
  void pack(const void* b, void* packed);
  /// Multiplies; threads are those of the calling OpenMP team.
  void run(const void* a, const void* b, const void* bias, void* c);

 private:
  struct Primitives;
  void execute(const void* a, const void* b, const void* bias, void* c);
  void run_blocks(const void* a, const void* b, const void* bias, void* c) const;

  GemmProblem problem_;
  std::unique_ptr<Primitives> primitives_;
};

/// An fp32 product whose sizes are not planned for: op(a) [m, k], op(b) [k, n], c [m, n], rows
/// contiguous and `stride` elements apart.
struct PlainProduct {
  bool transpose_a = false, transpose_b = false, accumulate = false;
  Index m = 0, n = 0, k = 0;
  const float* a = nullptr;
  Index a_stride = 0;
  const float* b = nullptr;
  Index b_stride = 0;
  float* c = nullptr;
  Index c_stride = 0;
};

/// c = (or +=) op(a) op(b) on the calling thread alone.
void multiply_alone(const PlainProduct& product);

LibraryVersion onednn_version();

}  // namespace mpitron::kernels::host
