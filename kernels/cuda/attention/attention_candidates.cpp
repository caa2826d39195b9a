// Numerical contract: that of attention.h, which every candidate keeps. Which of them runs
// is a matter of the shape and of what was chosen for it (kernels/attention/attention_choice.h).
#include <span>

#include "kernels/attention/attention_choice.h"
#include "kernels/cuda/attention/attention_kernels.h"

namespace mpitron::kernels {
namespace {

using namespace cuda::attention;
using device::CudaStream;

template <class Kernel>
struct Candidate {
  AttentionKernel name;
  bool (*fits)(const CudaStream&, const Kernel&);
  Index (*workspace_bytes)(const CudaStream&, const Kernel&);
  void (*run)(CudaStream&, const Kernel&);
};

template <class Kernel>
constexpr Candidate<Kernel> kCudnn = {AttentionKernel::cudnn, cudnn_fits, cudnn_workspace_bytes,
                                      run_cudnn};
template <class Kernel>
bool always(const CudaStream&, const Kernel&) {
  return true;
}
Index no_workspace(const CudaStream&, const AttentionForward&) {
  return 0;
}

constexpr Candidate<AttentionForward> kForward[] = {
    kCudnn<AttentionForward>,
    {AttentionKernel::wgmma, wgmma_fits, no_workspace, run_wgmma},
    {AttentionKernel::mma, always, no_workspace, run_mma}};
constexpr Candidate<AttentionBackward> kBackward[] = {
    kCudnn<AttentionBackward>,
    {AttentionKernel::wgmma, wgmma_fits, wgmma_workspace_bytes, run_wgmma},
    {AttentionKernel::mma, always, mma_workspace_bytes, run_mma}};

std::span<const Candidate<AttentionForward>> all_of(const AttentionForward&) {
  return kForward;
}
std::span<const Candidate<AttentionBackward>> all_of(const AttentionBackward&) {
  return kBackward;
}

/// The candidate of this name; null where it cannot run this attention.
template <class Kernel>
const Candidate<Kernel>* find(const CudaStream& stream, const Kernel& kernel,
                              AttentionKernel name) {
  for (const auto& candidate : all_of(kernel)) {
    if (candidate.name == name) {
      return candidate.fits(stream, kernel) ? &candidate : nullptr;
    }
  }
  return nullptr;
}

template <class Kernel>
std::vector<AttentionKernel> names_of_fitting(const CudaStream& stream, const Kernel& kernel) {
  std::vector<AttentionKernel> names;
  for (const auto& candidate : all_of(kernel)) {
    if (candidate.fits(stream, kernel)) {
      names.push_back(candidate.name);
    }
  }
  return names;
}

/// Notes an attention for which there is no choice, but something to choose from.
template <class Kernel>
void note(const CudaStream& stream, const Kernel& kernel) {
  const bool half = kernel.q.dtype == DType::bf16 || kernel.q.dtype == DType::f16;
  const bool plain = !kernel.dropout.active() && !kernel.bias && kernel.softcap == 0;
  if (half && plain && !kernel.positions && names_of_fitting(stream, kernel).size() > 1) {
    met_attentions().add(shape_of(kernel));
  }
}

/// Finds the kernel of a shape: the one that a tuning file names, else the first of the order that
/// can run it.
template <class Kernel>
const Candidate<Kernel>& chosen(const CudaStream& stream, const Kernel& kernel) {
  MPITRON_CHECK(!kernel.seen_until, to_string(kernel.seen_until.shape));
  const AttentionChoices& choices = attention_choices();
  const auto entry = choices.by_shape.find(shape_of(kernel));
  if (entry != choices.by_shape.end()) {
    if (const auto* candidate = find(stream, kernel, entry->second)) {
      return *candidate;
    }
  } else if (met_attentions().noting()) {
    note(stream, kernel);
  }
  for (const AttentionKernel name : choices.order) {
    if (const auto* candidate = find(stream, kernel, name)) {
      return *candidate;
    }
  }
  return all_of(kernel).back();  // which runs every attention
}

}  // namespace

std::vector<AttentionKernel> candidates(const CudaStream& stream, const AttentionForward& kernel) {
  return names_of_fitting(stream, kernel);
}
std::vector<AttentionKernel> candidates(const CudaStream& stream, const AttentionBackward& kernel) {
  return names_of_fitting(stream, kernel);
}

Index workspace_bytes(const CudaStream& stream, const AttentionForward& kernel) {
  return chosen(stream, kernel).workspace_bytes(stream, kernel);
}
Index workspace_bytes(const CudaStream& stream, const AttentionBackward& kernel) {
  return chosen(stream, kernel).workspace_bytes(stream, kernel);
}

void run(CudaStream& stream, const AttentionForward& kernel) {
  chosen(stream, kernel).run(stream, kernel);
}
void run(CudaStream& stream, const AttentionBackward& kernel) {
  chosen(stream, kernel).run(stream, kernel);
}

}  // namespace mpitron::kernels
