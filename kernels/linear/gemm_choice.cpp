// Chooses among algorithms of cuBLASLt by shape and notes shapes without a choice. Products whose
// number of rows changes from step to step (experts) are not noted, as they would never end.
#include "kernels/linear/gemm_choice.h"

#include <atomic>

namespace mpitron::kernels {
namespace {

struct Choices {
  GemmAlgorithms algorithms;
  std::atomic<std::uint64_t> count = 0;
};
Choices& choices() {
  static Choices all;
  return all;
}

/// Scopes of PassingSizes that this thread is in.
thread_local int passing_sizes = 0;

}  // namespace

MatmulKernel& matmul_kernel() {
  static MatmulKernel kernel = MatmulKernel::automatic;
  return kernel;
}

const GemmAlgorithms& gemm_algorithms() {
  return choices().algorithms;
}

void choose_gemm_algorithms(GemmAlgorithms algorithms) {
  choices().algorithms = std::move(algorithms);
  ++choices().count;
}

std::uint64_t gemm_choice() {
  return choices().count.load(std::memory_order_relaxed);
}

MetShapes<GemmShape>& met_gemms() {
  static MetShapes<GemmShape> met;
  return met;
}

PassingSizes::PassingSizes() {
  ++passing_sizes;
}
PassingSizes::~PassingSizes() {
  --passing_sizes;
}
bool PassingSizes::here() {
  return passing_sizes > 0;
}

}  // namespace mpitron::kernels
