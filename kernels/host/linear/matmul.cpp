// Multiplies matrices through oneDNN, those of types that it does not multiply here as fp32 copies,
// and fp64 by plain loops. b is packed in panels where rows are many enough to pay for it, and a
// transposed a is made plain by panels, since oneDNN splits k for transposed sources; both panels
// lie in the workspace and depend on the shape alone.
#include "kernels/linear/matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels/elementwise/elementwise.h"
#include "kernels/host/common/fp64.h"
#include "kernels/host/common/parallel.h"
#include "kernels/host/linear/gemm.h"
#include "kernels/host/linear/transpose.h"

namespace mpitron::kernels {
namespace host {
namespace {

constexpr Index kAlignment = 64;
/// From this many rows on, bringing b into oneDNN's own layout pays for itself: it costs a fixed
/// time (most where fp32 columns have to be gathered) and makes every row 4 to 10 % faster.
Index packing_rows(DType type, bool b_transposed) {
  return type == DType::bf16 ? 256 : b_transposed ? 2048 : 512;
}
constexpr Index kPackingElements = Index{1} << 17;
/// At most this much of b is packed at a time, and of a transposed.
constexpr Index kPackedBytes = Index{160} << 20;
constexpr Index kTransposedBytes = Index{16} << 20;

Index round_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Rows or columns of a panel whose lines take `line_bytes`: a multiple of 64, `extent` if all fit.
Index panel_of(Index extent, Index line_bytes, Index budget) {
  return std::min(extent, std::max<Index>(budget / std::max<Index>(line_bytes, 1) / 64, 1) * 64);
}

/// Plan of a product of fp32 or bf16: by panels of columns, whose part of b is packed, and of rows,
/// whose part of a is transposed. It depends on the shape alone.
struct Plan {
  GemmProblem problem;  // of the first, largest panels
  Index row_panel, column_panel;
  Index packed_bytes = 0, transposed_bytes = 0;

  Index bytes() const {
    return packed_bytes + transposed_bytes == 0 ? 0 : packed_bytes + transposed_bytes + kAlignment;
  }
};

Plan plan_of(const Matmul& kernel) {
  Plan plan{};
  GemmProblem& p = plan.problem;
  const auto element = static_cast<Index>(size_of(kernel.a.dtype));
  p.m = kernel.c.size(0);
  p.n = kernel.c.size(1);
  p.k = kernel.a.size(kernel.transpose_a ? 0 : 1);
  p.a_stride = kernel.a.stride(0);
  p.b_stride = kernel.b.stride(0);
  p.c_stride = kernel.c.stride(0);
  p.type = kernel.a.dtype;
  p.c_type = kernel.c.dtype;
  p.bias_type = kernel.bias.dtype;
  p.activation = kernel.activation;
  p.has_bias = static_cast<bool>(kernel.bias);
  p.b_transposed = kernel.transpose_b;
  p.accumulate = kernel.accumulate;
  p.threads = static_cast<int>(max_workers());
  p.b_packed = Gemm::packs(p.type) && p.m >= packing_rows(p.type, p.b_transposed) &&
               p.n * p.k >= kPackingElements;
  plan.row_panel = p.m;
  plan.column_panel = p.n;
  if (kernel.transpose_a) {
    // The extra line keeps rows of a power of two out of each other's cache sets.
    p.a_stride = round_up(p.k, 64) + 64;
    plan.row_panel = panel_of(p.m, p.a_stride * element, kTransposedBytes);
    plan.transposed_bytes = round_up(plan.row_panel * p.a_stride * element, kAlignment);
    p.m = plan.row_panel;
  }
  if (p.b_packed) {
    plan.column_panel = panel_of(p.n, p.k * element, kPackedBytes);
    p.n = plan.column_panel;
    plan.packed_bytes = round_up(Gemm::of(p).packed_bytes(), kAlignment);
  }
  return plan;
}

template <class View>
auto* at(const View& view, Index row, Index column) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(view.data)>>,
                                  const char, char>;
  return static_cast<Byte*>(view.data) +
         (row * view.stride(0) + column * view.stride(1)) * static_cast<Index>(size_of(view.dtype));
}

/// Transposes the rows of a that one panel needs, as words of 2 or 4 bytes: the values do not
/// matter.
void transpose_panel(const In& a, Index first, const GemmProblem& problem, void* to) {
  const auto run = [&]<class T>(T* target) {
    run_transpose(Transpose<T>{reinterpret_cast<const T*>(at(a, 0, first)), problem.k, problem.m,
                               a.stride(0), target, problem.a_stride});
  };
  if (size_of(a.dtype) == 2) {
    run(static_cast<std::uint16_t*>(to));
  } else {
    run(static_cast<std::uint32_t*>(to));
  }
}

char* aligned_workspace(const Out& workspace, Index wanted) {
  if (wanted == 0) {
    return nullptr;
  }
  MPITRON_CHECK(workspace.bytes() >= wanted, workspace.bytes(), wanted);
  const auto address = reinterpret_cast<std::uintptr_t>(workspace.data);
  return static_cast<char*>(workspace.data) +
         (round_up(static_cast<Index>(address), kAlignment) - static_cast<Index>(address));
}

/// Multiplies all rows with the columns from `column` on that one panel holds.
void run_columns(const Matmul& kernel, const Plan& plan, Index column, char* packed) {
  GemmProblem problem = plan.problem;
  problem.n = std::min(plan.column_panel, kernel.c.size(1) - column);
  char* transposed = packed + plan.packed_bytes;
  const void* b = kernel.transpose_b ? at(kernel.b, column, 0) : at(kernel.b, 0, column);
  const void* bias = problem.has_bias ? static_cast<const char*>(kernel.bias.data) +
                                            column * static_cast<Index>(size_of(kernel.bias.dtype))
                                      : nullptr;
  if (problem.b_packed) {
    Gemm::of(problem).pack(b, packed);
    b = packed;
  }
  for (Index row = 0; row < kernel.c.size(0); row += plan.row_panel) {
    problem.m = std::min(plan.row_panel, kernel.c.size(0) - row);
    const void* a = kernel.transpose_a ? transposed : at(kernel.a, row, 0);
    if (kernel.transpose_a) {
      transpose_panel(kernel.a, row, problem, transposed);
    }
    Gemm::of(problem).run(a, b, bias, at(kernel.c, row, column));
  }
}

/// Makes c = 0 or c += 0: a product over no elements (an expert without tokens).
void run_empty(const Matmul& kernel) {
  MPITRON_CHECK(!kernel.bias);
  const auto bytes = static_cast<std::size_t>(kernel.c.size(1)) * size_of(kernel.c.dtype);
  for (Index row = 0; !kernel.accumulate && row < kernel.c.size(0); ++row) {
    std::memset(at(kernel.c, row, 0), 0, bytes);
  }
}

/// Holds the fp32 copies by which a product is done whose type oneDNN does not multiply here, at
/// the front of the workspace. With null memory it only counts bytes.
class Fp32Copies {
 public:
  Fp32Copies(const Matmul& kernel, char* memory) : exact_(kernel), next_(memory) {
    exact_.a = place(kernel.a);
    exact_.b = place(kernel.b);
    if (kernel.bias) {
      exact_.bias = place(kernel.bias);
    }
    if (kernel.c.dtype != DType::f32) {
      exact_.c = place(kernel.c);
    }
  }
  /// The product in fp32; its workspace is what the copies leave.
  Matmul& exact() { return exact_; }
  Index bytes() const { return bytes_; }

 private:
  device::TensorView place(const In& view) {
    const device::TensorView copy(next_, DType::f32, view.shape);
    const Index bytes = round_up(view.numel() * 4, kAlignment);
    bytes_ += bytes;
    next_ = next_ == nullptr ? nullptr : next_ + bytes;
    return copy;
  }

  Matmul exact_;
  char* next_;
  Index bytes_ = 0;
};

void run_by_copies(device::HostStream& stream, const Matmul& kernel) {
  const Index wanted = workspace_bytes(stream, kernel);
  char* memory = aligned_workspace(kernel.workspace, wanted);
  Fp32Copies copies(kernel, memory);
  Matmul& exact = copies.exact();
  const auto copy = [&](const In& from, const device::TensorView& to) {
    run(stream, Cast{from, to});
  };
  const auto writable = [](const In& view) {
    return device::TensorView(const_cast<void*>(view.data), view.dtype, view.shape);
  };
  copy(kernel.a, writable(exact.a));
  copy(kernel.b, writable(exact.b));
  if (kernel.bias) {
    copy(kernel.bias, writable(exact.bias));
  }
  if (kernel.accumulate && kernel.c.dtype != DType::f32) {
    copy(kernel.c, exact.c);
  }
  const Index rest = wanted - kAlignment - copies.bytes();
  exact.workspace = device::TensorView(memory + copies.bytes(), DType::u8, {rest});
  run(stream, exact);
  if (kernel.c.dtype != DType::f32) {
    copy(exact.c, kernel.c);
  }
}

}  // namespace
}  // namespace host

Index workspace_bytes(const device::HostStream& stream, const Matmul& kernel) {
  if (kernel.c.numel() == 0 || kernel.a.numel() == 0 || kernel.a.dtype == DType::f64) {
    return 0;
  }
  if (!host::Gemm::multiplies(kernel.a.dtype)) {
    host::Fp32Copies copies(kernel, nullptr);
    return copies.bytes() + workspace_bytes(stream, copies.exact()) + host::kAlignment;
  }
  return host::plan_of(kernel).bytes();
}

void run(device::HostStream& stream, const Matmul& kernel) {
  check(kernel);
  if (kernel.c.numel() == 0) {
    return;
  }
  if (kernel.a.dtype == DType::f64) {
    return host::multiply_fp64(kernel);
  }
  if (kernel.a.numel() == 0) {
    host::run_empty(kernel);
    return;
  }
  if (!host::Gemm::multiplies(kernel.a.dtype)) {
    host::run_by_copies(stream, kernel);
    return;
  }
  const host::Plan plan = host::plan_of(kernel);
  char* memory = host::aligned_workspace(kernel.workspace, plan.bytes());
  for (Index column = 0; column < kernel.c.size(1); column += plan.column_panel) {
    host::run_columns(kernel, plan, column, memory);
  }
}

}  // namespace mpitron::kernels
