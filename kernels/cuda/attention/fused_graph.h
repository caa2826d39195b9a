#pragma once
#include <array>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>

#include "device/cuda/cuda_device.h"
#include "utils/numbers/dtype.h"

namespace mpitron::kernels::cuda {

/// Operations on tensors of four dimensions that cuDNN runs as one kernel: its backend API ("Graph
/// API" in NVIDIA's cuDNN documentation), which knows certain patterns of them. What cuDNN refuses
/// is thrown as FusedGraph::Refused.
class FusedGraph {
 public:
  using Extents = std::array<Index, 4>;
  struct Layout {
    Extents sizes, strides;  // strides in elements
  };
  /// Stands for a tensor in this graph.
  enum class Tensor : Index {};
  enum class Map { add, subtract, multiply, divide, exp, log, greater, greater_equal, select };
  enum class Reduction { sum, maximum };

  class Refused : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  FusedGraph();
  FusedGraph(FusedGraph&&) noexcept;
  ~FusedGraph();

  /// A tensor in the GPU's memory, aligned to 16 bytes: `FusedPlan::run` is told where, in the
  /// order of these calls.
  Tensor in_memory(DType type, const Layout& layout);
  /// One that an operation writes and others read; it never lies in memory. u8: truth values.
  Tensor between(DType type, const Layout& layout);
  /// A number, the same in every run.
  Tensor number(float value);
  Tensor number(std::int32_t value);

  /// to[i] = f(inputs[i]), computed in `precision`; sizes of 1 are repeated. `select` takes
  /// (x, otherwise, whether x).
  void map(Map f, std::initializer_list<Tensor> inputs, Tensor to, DType precision = DType::f32);
  /// Over the dimensions in which `to` has size 1, or fewer heads than x: each sums as many in a
  /// row.
  void reduce(Reduction f, Tensor x, Tensor to);
  /// Where along `axis` an element lies, as `to`: of a tensor like `like`.
  void index(int axis, Tensor like, Tensor to);
  /// Matrix products of the last two dimensions; second dimensions of b are repeated.
  void product(Tensor a, Tensor b, Tensor to);
  /// The same elements under another layout.
  void reshape(Tensor x, Tensor to);

 private:
  friend class FusedPlan;
  struct State;
  std::unique_ptr<State> state_;
};

/// A graph that is ready to run on one GPU, by the thread that planned it.
class FusedPlan {
 public:
  /// The first of cuDNN's engines that gives the same bits in every run and wants no more than
  /// `largest_workspace` bytes; Refused where there is none.
  FusedPlan(FusedGraph graph, int device, Index largest_workspace);
  ~FusedPlan();

  Index workspace_bytes() const;
  /// `data`: where the tensors in memory lie. `workspace` is aligned to 256 bytes.
  void run(device::CudaStream& stream, std::span<const void* const> data, void* workspace);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// As cuDNN counts (9.10.2 is 91002); 0 where the library is not there.
Index cudnn_version();

}  // namespace mpitron::kernels::cuda
