// Decides which attentions cuDNN runs and in which form it is told of them. A layout with heads in
// groups is tried in two ways, groups as heads or as samples, whichever its strides can say.
#include "kernels/cuda/attention/fused_attention_problem.h"

#include <cstdint>

#include "device/cuda/cuda_device.h"
#include "kernels/attention/attention_views.h"

namespace mpitron::kernels::cuda::attention {
namespace {

using device::ConstTensorView;

constexpr Index kLargestHead = 256;

/// Heads of a view of g groups of r heads: groups as part of the heads, or else of the samples.
std::optional<FusedHeads> heads_of(const ConstTensorView& view, Index g, Index r,
                                   bool groups_are_samples) {
  const bool split = view.shape.rank() == 5;
  if (split && (view.size(2) != g || view.size(3) != r)) {
    return std::nullopt;
  }
  const Index head = view.stride(split ? 3 : 2);
  const Index group = split ? view.stride(2) : r * head;
  const Index sample = view.stride(1), position = view.stride(0);
  if (groups_are_samples) {
    return sample == g * group || view.size(1) == 1
               ? std::optional(FusedHeads{group, head, position})
               : std::nullopt;
  }
  if (r == 1) {
    return FusedHeads{sample, group, position};
  }
  return g == 1 || group == r * head ? std::optional(FusedHeads{sample, head, position})
                                     : std::nullopt;
}

/// Fills in strides of one form; false where some tensor cannot be seen in it.
class Layouts {
 public:
  Layouts(Index g, Index r, bool groups_are_samples) : g_(g), r_(r), samples_(groups_are_samples) {}
  Layouts& queries(FusedHeads& to, const ConstTensorView& view) { return add(to, view, r_); }
  Layouts& keys(FusedHeads& to, const ConstTensorView& view) { return add(to, view, 1); }
  bool fit() const { return fit_; }

 private:
  /// Adds a tensor's heads, which fit where each of their rows is contiguous and aligned to 16
  /// bytes.
  Layouts& add(FusedHeads& to, const ConstTensorView& view, Index r) {
    const auto heads = heads_of(view, g_, r, samples_);
    const auto bytes = static_cast<Index>(size_of(view.dtype));
    const auto aligned = [&](Index elements) { return elements * bytes % 16 == 0; };
    fit_ = fit_ && heads && view.stride(-1) == 1 && aligned(heads->sample) &&
           aligned(heads->head) && aligned(heads->position) &&
           reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
    to = heads.value_or(FusedHeads{});
    return *this;
  }

  Index g_, r_;
  bool samples_, fit_ = true;
};

void add_layouts(Layouts& layouts, FusedProblem& p, const AttentionForward& k) {
  layouts.queries(p.q, k.q).keys(p.k, k.k).keys(p.v, k.v).queries(p.o, k.o);
}
void add_layouts(Layouts& layouts, FusedProblem& p, const AttentionBackward& k) {
  layouts.queries(p.q, k.q).keys(p.k, k.k).keys(p.v, k.v).queries(p.o, k.o);
  layouts.queries(p.d_o, k.d_o).queries(p.dq, k.dq).keys(p.dk, k.dk).keys(p.dv, k.dv);
}

/// Finds a form in which all tensors of the pass can be described; nothing where there is none.
template <class Kernel>
std::optional<FusedProblem> problem_of_pass(const device::CudaStream& stream,
                                            const Kernel& kernel) {
  const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
  const Index b = q[1], n = q[2], g = v[2], r = n / g;
  for (const bool groups_are_samples : {false, true}) {
    FusedProblem p{.device = stream.device,
                   .type = kernel.q.dtype,
                   .causal = kernel.causal,
                   .window = kernel.window,
                   .scale = kernel.scale,
                   .s = q[0],
                   .s_kv = v[0],
                   .b = groups_are_samples ? b * g : b,
                   .n = groups_are_samples ? r : n,
                   .g = groups_are_samples ? 1 : g,
                   .d = q[3],
                   .d_v = v[3]};
    if (kernel.mask && groups_are_samples && kernel.mask.size(0) > 1) {
      return std::nullopt;  // it would have to be repeated for the groups of a sample
    }
    if (kernel.mask) {
      p.mask_samples = kernel.mask.size(0);
      p.mask_rows = kernel.mask.size(1);
    }
    Layouts layouts(g, r, groups_are_samples);
    add_layouts(layouts, p, kernel);
    p.lse = groups_are_samples ? FusedHeads{r * q[0], q[0], 1} : FusedHeads{n * q[0], q[0], 1};
    if (layouts.fit() && kernel.lse.contiguous()) {
      return p;
    }
  }
  return std::nullopt;
}

bool outputs_have_type(const AttentionForward& k, DType type) {
  return k.o.dtype == type;
}
bool outputs_have_type(const AttentionBackward& k, DType type) {
  return k.dq.dtype == type && k.dk.dtype == type && k.dv.dtype == type;
}

/// Says in a few words what of an attention is beyond the library's pattern; null where nothing is.
template <class Kernel>
const char* beyond_pattern_of_pass(const Kernel& kernel) {
  const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
  const auto is_head = [](Index d) { return d > 0 && d % 8 == 0 && d <= kLargestHead; };
  if (kernel.q.dtype != DType::bf16 && kernel.q.dtype != DType::f16) {
    return "types other than bf16 and fp16";
  }
  if (!outputs_have_type(kernel, kernel.q.dtype)) {
    return "sums that are kept in fp32";
  }
  if (kernel.dropout.active()) {
    return "dropout, whose masks are the same on all devices";
  }
  if (kernel.softcap > 0) {
    return "bounds of scores";
  }
  if (kernel.bias || kernel.positions) {
    return kernel.bias ? "a bias" : "parts of a sequence";
  }
  if (!is_head(q[3]) || !is_head(v[3])) {
    return "head sizes that are no multiples of 8 up to 256";
  }
  if (q[0] < 2 || (kernel.causal && q[0] > v[0]) || (kernel.window >= 0 && !kernel.causal)) {
    return "one query, more queries than keys, windows to both sides";
  }
  return nullptr;
}

}  // namespace

std::optional<FusedProblem> problem_of(const device::CudaStream& stream,
                                       const AttentionForward& kernel) {
  return problem_of_pass(stream, kernel);
}
std::optional<FusedProblem> problem_of(const device::CudaStream& stream,
                                       const AttentionBackward& kernel) {
  return problem_of_pass(stream, kernel);
}

const char* beyond_pattern(const AttentionForward& kernel) {
  return beyond_pattern_of_pass(kernel);
}
const char* beyond_pattern(const AttentionBackward& kernel) {
  return beyond_pattern_of_pass(kernel);
}

}  // namespace mpitron::kernels::cuda::attention
