// Numerical contract: that of kernels/attention.h for what cuDNN is given: bf16 and fp16 without
// dropout (its masks are not ours), bias or positions; masks as fused_attention_mask.h hides keys.
// cuDNN sums in fp32, keeps the softmax in fp32, rounds P and dS before they enter a product and
// results once at the end, but dk and dv of each query head once more before they are summed over
// a group; engines that do not give the same bits in every run are not taken.
//
// The graphs are those that cuDNN recognises: "Scaled Dot Product Attention" and "... Backward" in
// the Graph API's operations and fusion patterns (Mha-Fprop, Mha-Bprop) of NVIDIA's documentation.
// Its tensors are [b, h, s, d]: keys enter as [b, h, d, s]. Where the queries of one group lie side
// by side, but groups do not (a fused qkv), every group is a sample of its own with one key head.
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention_views.h"
#include "kernels/cuda/attention_kernels.h"
#include "kernels/cuda/fused_attention_mask.h"
#include "kernels/cuda/fused_graph.h"
#include "utils/log.h"

namespace mpitron::kernels::cuda::attention {
namespace {

using device::ConstTensorView;
using Map = FusedGraph::Map;
using Reduction = FusedGraph::Reduction;
using Tensor = FusedGraph::Tensor;

/// The first version without known faults in these patterns.
constexpr Index kOldestLibrary = 91002;
/// Up to this one, backward needs whole tiles of keys.
constexpr Index kLastWithWholeTiles = 91500;
constexpr Index kTileOfKeys = 128;
constexpr Index kLargestHead = 256;
constexpr Index kAlignment = 256;
/// A deterministic backward keeps dS of a layer: 1 GiB for 32 heads of 4096 positions.
constexpr Index kLargestWorkspace = Index{2} << 30;

Index round_up(Index bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Where heads lie: strides between samples, heads and positions.
struct Heads {
  Index sample, head, position;
  auto operator<=>(const Heads&) const = default;
};

/// All that a plan depends on.
struct Problem {
  int device;
  DType type;
  bool causal;
  Index window;
  float scale;
  Index s, s_kv, b, n, g, d, d_v;
  Heads q, k, v, o, lse;
  Heads d_o, dq, dk, dv;          // of backward
  Index mask_samples, mask_rows;  // 0: none
  auto operator<=>(const Problem&) const = default;
};

/// Heads of a view of g groups of r heads: groups as part of the heads, or else of the samples.
std::optional<Heads> heads_of(const ConstTensorView& view, Index g, Index r,
                              bool groups_are_samples) {
  const bool split = view.shape.rank() == 5;
  if (split && (view.size(2) != g || view.size(3) != r)) {
    return std::nullopt;
  }
  const Index head = view.stride(split ? 3 : 2);
  const Index group = split ? view.stride(2) : r * head;
  const Index sample = view.stride(1), position = view.stride(0);
  if (groups_are_samples) {
    return sample == g * group || view.size(1) == 1 ? std::optional(Heads{group, head, position})
                                                    : std::nullopt;
  }
  if (r == 1) {
    return Heads{sample, group, position};
  }
  return g == 1 || group == r * head ? std::optional(Heads{sample, head, position}) : std::nullopt;
}

/// Fills in strides of one form; false where some tensor cannot be seen in it.
class Layouts {
 public:
  Layouts(Index g, Index r, bool groups_are_samples) : g_(g), r_(r), samples_(groups_are_samples) {}
  Layouts& queries(Heads& to, const ConstTensorView& view) { return add(to, view, r_); }
  Layouts& keys(Heads& to, const ConstTensorView& view) { return add(to, view, 1); }
  bool fit() const { return fit_; }

 private:
  Layouts& add(Heads& to, const ConstTensorView& view, Index r) {
    const auto heads = heads_of(view, g_, r, samples_);
    const auto bytes = static_cast<Index>(size_of(view.dtype));
    const auto aligned = [&](Index elements) { return elements * bytes % 16 == 0; };
    fit_ = fit_ && heads && view.stride(-1) == 1 && aligned(heads->sample) &&
           aligned(heads->head) && aligned(heads->position) &&
           reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
    to = heads.value_or(Heads{});
    return *this;
  }

  Index g_, r_;
  bool samples_, fit_ = true;
};

void add_layouts(Layouts& layouts, Problem& p, const AttentionForward& k) {
  layouts.queries(p.q, k.q).keys(p.k, k.k).keys(p.v, k.v).queries(p.o, k.o);
}
void add_layouts(Layouts& layouts, Problem& p, const AttentionBackward& k) {
  layouts.queries(p.q, k.q).keys(p.k, k.k).keys(p.v, k.v).queries(p.o, k.o);
  layouts.queries(p.d_o, k.d_o).queries(p.dq, k.dq).keys(p.dk, k.dk).keys(p.dv, k.dv);
}

bool outputs_have_type(const AttentionForward& k, DType type) {
  return k.o.dtype == type;
}
bool outputs_have_type(const AttentionBackward& k, DType type) {
  return k.dq.dtype == type && k.dk.dtype == type && k.dv.dtype == type;
}

/// The attention as cuDNN is told of it; absent where its tensors lie in no way that it knows.
template <class Kernel>
std::optional<Problem> problem_of(const device::CudaStream& stream, const Kernel& kernel) {
  const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
  const Index b = q[1], n = q[2], g = v[2], r = n / g;
  for (const bool groups_are_samples : {false, true}) {
    Problem p{.device = stream.device,
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
    p.lse = groups_are_samples ? Heads{r * q[0], q[0], 1} : Heads{n * q[0], q[0], 1};
    if (layouts.fit() && kernel.lse.contiguous()) {
      return p;
    }
  }
  return std::nullopt;
}

// --- the graphs ---------------------------------------------------------------------------------

/// What both passes are made of.
class AttentionGraph {
 public:
  explicit AttentionGraph(const Problem& p) : p_(p) {}

  FusedGraph graph;

  Tensor queries(const Heads& heads, Index d) {
    return memory(heads, {p_.b, p_.n, p_.s, d}, heads.position, 1);
  }
  Tensor keys(const Heads& heads, Index d) {
    return memory(heads, {p_.b, p_.g, p_.s_kv, d}, heads.position, 1);
  }
  Tensor transposed_keys(const Heads& heads, Index d) {
    return memory(heads, {p_.b, p_.g, d, p_.s_kv}, 1, heads.position);
  }
  /// One number for each query, in memory.
  Tensor numbers(const Heads& heads) {
    return graph.in_memory(DType::f32,
                           {{p_.b, p_.n, p_.s, 1}, {heads.sample, heads.head, heads.position, 1}});
  }
  Tensor dense(DType type, const FusedGraph::Extents& sizes) {
    return graph.between(type, {sizes, packed(sizes)});
  }
  Tensor matrix(DType type = DType::f32) { return dense(type, {p_.b, p_.n, p_.s, p_.s_kv}); }
  Tensor column() { return dense(DType::f32, {p_.b, p_.n, p_.s, 1}); }

  Tensor mapped(Map f, std::initializer_list<Tensor> inputs) {
    const Tensor to = matrix();
    graph.map(f, inputs, to);
    return to;
  }
  /// scale q k + what the mask adds
  Tensor scores(Tensor q, Tensor k) {
    const Tensor raw = matrix();
    graph.product(q, k, raw);
    const Tensor scaled = mapped(Map::multiply, {raw, graph.number(p_.scale)});
    return p_.mask_rows > 0 ? mapped(Map::add, {scaled, mask_bias()}) : scaled;
  }
  /// The scores with -inf for those that are hidden.
  Tensor visible(Tensor scores) {
    if (p_.causal) {
      scores = selected(scores, not_later(indices(scores)));
    }
    return p_.window >= 0 ? selected(scores, in_window(indices(scores))) : scores;
  }
  /// [b, n, s_kv, s] in the inputs' type.
  Tensor transposed(Tensor x) {
    const Index all = p_.s * p_.s_kv;
    const Tensor to =
        graph.between(p_.type, {{p_.b, p_.n, p_.s_kv, p_.s}, {p_.n * all, all, 1, p_.s_kv}});
    graph.reshape(x, to);
    return to;
  }
  /// a b, summed over the queries of a group.
  void product_of_groups(Tensor a, Tensor b, Tensor to, Index d) {
    if (p_.n == p_.g) {
      return graph.product(a, b, to);
    }
    const Tensor all = dense(p_.type, {p_.b, p_.n, p_.s_kv, d});
    graph.product(a, b, all);
    graph.reduce(Reduction::sum, all, to);
  }

 private:
  Tensor memory(const Heads& heads, const FusedGraph::Extents& sizes, Index row, Index column) {
    return graph.in_memory(p_.type, {sizes, {heads.sample, heads.head, row, column}});
  }
  static FusedGraph::Extents packed(const FusedGraph::Extents& sizes) {
    return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
  }
  /// What hides keys: the last of the tensors in memory.
  Tensor mask_bias() {
    const Index width = mask_bias_width(p_.s_kv), all = p_.mask_rows * width;
    return graph.in_memory(p_.type,
                           {{p_.mask_samples, 1, p_.mask_rows, p_.s_kv}, {all, all, width, 1}});
  }
  Tensor index(int axis, Tensor like) {
    const Tensor to = matrix(DType::i32);
    graph.index(axis, like, to);
    return to;
  }
  Tensor shifted(Map f, Tensor x, Tensor by, DType type) {
    const Tensor to = matrix(type);
    graph.map(f, {x, by}, to, type);
    return to;
  }
  Tensor truth(Map f, Tensor a, Tensor b) {
    const Tensor to = matrix(DType::u8);
    graph.map(f, {a, b}, to, DType::u8);
    return to;
  }
  /// Where the scores lie in their matrix.
  struct Indices {
    Tensor row, column;
  };
  Indices indices(Tensor scores) {
    const Tensor row = index(2, scores);
    return {row, index(3, scores)};
  }
  /// row + s_kv - s >= column: queries are the last positions.
  Tensor not_later(Indices at) {
    if (p_.s != p_.s_kv) {
      at.row = shifted(Map::add, at.row, graph.number(narrow(p_.s_kv)), DType::i32);
      at.row = shifted(Map::subtract, at.row, graph.number(narrow(p_.s)), DType::i32);
    }
    return truth(Map::greater_equal, at.row, at.column);
  }
  /// column + window + 1 - (s_kv - s) > row
  Tensor in_window(Indices at) {
    const auto distance = static_cast<float>(p_.window + 1 - p_.s_kv + p_.s);
    at.column = shifted(Map::add, at.column, graph.number(distance), DType::f32);
    return truth(Map::greater, at.column, at.row);
  }
  Tensor selected(Tensor scores, Tensor visible) {
    const Tensor hidden = graph.number(-std::numeric_limits<float>::infinity());
    return mapped(Map::select, {scores, hidden, visible});
  }
  static std::int32_t narrow(Index x) { return static_cast<std::int32_t>(x); }

  const Problem& p_;
};

/// Tensors in memory: q, k, v, o, lse, and the mask's bias if there is a mask.
FusedGraph graph_of(const Problem& p, const AttentionForward&) {
  AttentionGraph a(p);
  FusedGraph& graph = a.graph;
  const Tensor q = a.queries(p.q, p.d), k = a.transposed_keys(p.k, p.d), v = a.keys(p.v, p.d_v);
  const Tensor o = a.queries(p.o, p.d_v), lse = a.numbers(p.lse);
  const Tensor scores = a.visible(a.scores(q, k));
  const Tensor top = a.column(), sum = a.column(), logarithm = a.column();
  graph.reduce(Reduction::maximum, scores, top);
  const Tensor powers = a.mapped(Map::exp, {a.mapped(Map::subtract, {scores, top})});
  graph.reduce(Reduction::sum, powers, sum);
  graph.map(Map::log, {sum}, logarithm);
  graph.map(Map::add, {top, logarithm}, lse);
  const Tensor p_rounded = a.matrix(p.type);
  graph.map(Map::divide, {powers, sum}, p_rounded);
  graph.product(p_rounded, v, o);
  return std::move(graph);
}

/// Tensors in memory: q, k, v, o, lse, d_o, the row sums of d_o o, dq, dk, dv, the mask's bias.
FusedGraph graph_of(const Problem& p, const AttentionBackward&) {
  AttentionGraph a(p);
  FusedGraph& graph = a.graph;
  const Tensor q = a.queries(p.q, p.d), k = a.transposed_keys(p.k, p.d);
  const Tensor v = a.transposed_keys(p.v, p.d_v), o = a.queries(p.o, p.d_v), lse = a.numbers(p.lse);
  const Tensor d_o = a.queries(p.d_o, p.d_v), delta = a.numbers({p.n * p.s, p.s, 1});
  const Tensor dq = a.queries(p.dq, p.d), dk = a.keys(p.dk, p.d), dv = a.keys(p.dv, p.d_v);

  const Tensor products = a.dense(DType::f32, {p.b, p.n, p.s, p.d_v}), sums = a.column();
  graph.map(Map::multiply, {d_o, o}, products);
  graph.reduce(Reduction::sum, products, sums);
  graph.map(Map::multiply, {sums, graph.number(1.f)}, delta);

  const Tensor below = a.mapped(Map::subtract, {a.scores(q, k), lse});
  const Tensor p_all = a.mapped(Map::exp, {a.visible(below)});
  a.product_of_groups(a.transposed(p_all), d_o, dv, p.d_v);

  const Tensor dp = a.matrix();
  graph.product(d_o, v, dp);
  const Tensor ds = a.mapped(Map::multiply, {a.mapped(Map::subtract, {dp, delta}), p_all});
  const Tensor ds_scaled = a.mapped(Map::multiply, {ds, graph.number(p.scale)});
  a.product_of_groups(a.transposed(ds_scaled), q, dk, p.d);

  const Tensor k_rows =
      graph.between(p.type, {{p.b, p.g, p.s_kv, p.d}, {p.k.sample, p.k.head, p.k.position, 1}});
  graph.reshape(k, k_rows);
  graph.product(ds_scaled, k_rows, dq);
  return std::move(graph);
}

// --- plans --------------------------------------------------------------------------------------

/// What cuDNN is not asked for; null where it is.
template <class Kernel>
const char* beyond_pattern(const Kernel& kernel) {
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
  thread_local std::map<Problem, std::unique_ptr<FusedPlan>> plans;
  if (const char* reason = beyond_pattern(kernel)) {
    log_once(reason);
    return nullptr;
  }
  const std::optional<Problem> problem = problem_of(stream, kernel);
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
