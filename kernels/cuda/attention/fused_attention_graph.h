#pragma once
#include "kernels/cuda/attention/fused_attention_problem.h"
#include "kernels/cuda/attention/fused_graph.h"

// The graphs that cuDNN recognises: "Scaled Dot Product Attention" and "... Backward" in the Graph
// API's operations and fusion patterns (Mha-Fprop, Mha-Bprop) of NVIDIA's documentation. Keys enter
// as [b, h, d, s].
namespace mpitron::kernels::cuda::attention {

/// Tensors in memory: q, k, v, o, lse, and the mask's bias if there is a mask.
FusedGraph forward_graph(const FusedProblem& problem);
/// Tensors in memory: q, k, v, o, lse, d_o, the row sums of d_o o, dq, dk, dv, the mask's bias.
FusedGraph backward_graph(const FusedProblem& problem);

}  // namespace mpitron::kernels::cuda::attention
