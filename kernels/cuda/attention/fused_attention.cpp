// Numerical contract: that of attention.h for what cuDNN is given: bf16 and fp16 without
// dropout (its masks are not ours), bias or positions; masks as fused_attention_mask.h hides keys.
// cuDNN sums in fp32, keeps the softmax in fp32, rounds P and dS before they enter a product and
// results once at the end, but dk and dv of each query head once more before they are summed over
// a group; engines that do not give the same bits in every run are not taken.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/fused_attention_graph.h"
#include "kernels/cuda/attention/fused_attention_mask.h"
#include "utils/log.h"

namespace mpitron::kernels::cuda::attention {
namespace {

/// The first version without known faults in these patterns.
constexpr Index kOldestLibrary = 91002;
/// Up to this one, backward needs whole tiles of keys.
constexpr Index kLastWithWholeTiles = 91500;
constexpr Index kTileOfKeys = 128;
constexpr Index kAlignment = 256;
/// A deterministic backward keeps dS of a layer: 1 GiB for 32 heads of 4096 positions, and a little
/// more than 2 GiB for 4 samples of 16 such heads.
constexpr Index kLargestWorkspace = Index{3} << 30;

Index round_up(Index bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

FusedGraph graph_of(const FusedProblem& problem, const AttentionForward&) {
  return forward_graph(problem);
}
FusedGraph graph_of(const FusedProblem& problem, const AttentionBackward&) {
  return backward_graph(problem);
}

bool needs_whole_tiles(const AttentionForward&) {
  return false;
}
bool needs_whole_tiles(const AttentionBackward&) {
  return cudnn_version() <= kLastWithWholeTiles;
}

void log_once(const std::string& reason) {
  thread_local std::set<std::string> told;
  if (told.insert(reason).second) {
    log::info("attention: {}: the program's own kernel runs instead of cuDNN's", reason);
  }
}

/// The plan for an attention, kept for this thread; null where cuDNN has none.
template <class Kernel>
FusedPlan* plan_of(const device::CudaStream& stream, const Kernel& kernel) {
  thread_local std::map<FusedProblem, std::unique_ptr<FusedPlan>> plans;
  if (const char* reason = beyond_pattern(kernel)) {
    log_once(reason);
    return nullptr;
  }
  const std::optional<FusedProblem> problem = problem_of(stream, kernel);
  if (!problem) {
    log_once("heads that cuDNN cannot address, or not aligned to 16 bytes");
    return nullptr;
  }
  if (const auto known = plans.find(*problem); known != plans.end()) {
    return known->second.get();
  }
  std::unique_ptr<FusedPlan>& plan = plans[*problem];
  if (cudnn_version() < kOldestLibrary) {
    log_once(cudnn_version() == 0 ? "libcudnn.so.9 is not there"
                                  : "a cuDNN older than version 9.10.2");
  } else if (needs_whole_tiles(kernel) && problem->s_kv % kTileOfKeys != 0) {
    log_once("a cuDNN up to version 9.15 and keys that are no multiple of 128");
  } else {
    try {
      plan =
          std::make_unique<FusedPlan>(graph_of(*problem, kernel), stream.device, kLargestWorkspace);
    } catch (const FusedGraph::Refused& refused) {
      log_once(refused.what());
    }
  }
  return plan.get();
}

/// What a mask adds to scores; all of it is in the inputs' type.
template <class Kernel>
device::TensorView mask_bias(const Kernel& k, void* place) {
  return {place, k.q.dtype, {k.mask.size(0), k.mask.size(1), k.k.size(0)}};
}
template <class Kernel>
Index mask_bytes(const Kernel& k) {
  const Index rows = k.mask ? k.mask.size(0) * k.mask.size(1) : 0;
  return round_up(rows * mask_bias_width(k.k.size(0)) * 2);
}

/// Workspace: of backward the row sums and, with a mask, lse; the mask's bias; cuDNN's, aligned.
Index own_bytes(const AttentionForward& kernel) {
  return mask_bytes(kernel);
}
Index own_bytes(const AttentionBackward& kernel) {
  return round_up(kernel.lse.bytes()) * (kernel.mask ? 2 : 1) + mask_bytes(kernel);
}

template <class Kernel>
Index bytes_of(const device::CudaStream& stream, const Kernel& kernel) {
  return own_bytes(kernel) + plan_of(stream, kernel)->workspace_bytes() + kAlignment;
}

template <class Kernel>
char* aligned_workspace(const device::CudaStream& stream, const Kernel& kernel) {
  MPITRON_CHECK(kernel.workspace.bytes() >= bytes_of(stream, kernel), kernel.workspace.bytes());
  const auto address = reinterpret_cast<Index>(kernel.workspace.data);
  return static_cast<char*>(kernel.workspace.data) + (round_up(address) - address);
}

}  // namespace

bool cudnn_fits(const device::CudaStream& stream, const AttentionForward& kernel) {
  return plan_of(stream, kernel) != nullptr;
}
bool cudnn_fits(const device::CudaStream& stream, const AttentionBackward& kernel) {
  return plan_of(stream, kernel) != nullptr;
}

Index cudnn_workspace_bytes(const device::CudaStream& stream, const AttentionForward& kernel) {
  return bytes_of(stream, kernel);
}
Index cudnn_workspace_bytes(const device::CudaStream& stream, const AttentionBackward& kernel) {
  return bytes_of(stream, kernel);
}

/// Runs cuDNN's forward graph. A mask becomes a bias of the scores first, and rows that see nothing
/// are cleared behind it, since the graph gives them some mean of the hidden values.
void run_cudnn(device::CudaStream& stream, const AttentionForward& k) {
  char* const workspace = aligned_workspace(stream, k);
  std::vector<const void*> data = {k.q.data, k.k.data, k.v.data, k.o.data, k.lse.data};
  if (k.mask) {
    write_mask_bias(stream, k.mask, mask_bias(k, workspace));
    data.push_back(workspace);
  }
  plan_of(stream, k)->run(stream, data, workspace + own_bytes(k));
  if (k.mask) {
    clear_blind_rows(stream, k);
  }
}

/// Runs cuDNN's backward graph. With a mask, lse of rows that see nothing is made finite first, so
/// that their probabilities become 0 and not NaN.
void run_cudnn(device::CudaStream& stream, const AttentionBackward& k) {
  char *const sums = aligned_workspace(stream, k), *const finite = sums + round_up(k.lse.bytes());
  const void* const lse = k.mask ? finite : k.lse.data;
  std::vector<const void*> data = {k.q.data,   k.k.data, k.v.data,  k.o.data,  lse,
                                   k.d_o.data, sums,     k.dq.data, k.dk.data, k.dv.data};
  if (k.mask) {
    char* const bias = finite + round_up(k.lse.bytes());
    write_finite_lse(stream, k.lse, finite);
    write_mask_bias(stream, k.mask, mask_bias(k, bias));
    data.push_back(bias);
  }
  plan_of(stream, k)->run(stream, data, sums + own_bytes(k));
}

}  // namespace mpitron::kernels::cuda::attention
