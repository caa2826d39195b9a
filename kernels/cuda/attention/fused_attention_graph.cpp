// Describes attention to cuDNN as a graph of products and elementwise operations, which its runtime
// fuses into one kernel. Forward and backward use the same pieces, so both mask and scale alike.
#include "kernels/cuda/attention/fused_attention_graph.h"

#include <limits>
#include <utility>

#include "kernels/cuda/attention/fused_attention_mask.h"

namespace mpitron::kernels::cuda::attention {
namespace {

using Map = FusedGraph::Map;
using Reduction = FusedGraph::Reduction;
using Tensor = FusedGraph::Tensor;

/// What both passes are made of.
class AttentionGraph {
 public:
  explicit AttentionGraph(const FusedProblem& p) : p_(p) {}

  FusedGraph graph;

  Tensor queries(const FusedHeads& heads, Index d) {
    return memory(heads, {p_.b, p_.n, p_.s, d}, heads.position, 1);
  }
  Tensor keys(const FusedHeads& heads, Index d) {
    return memory(heads, {p_.b, p_.g, p_.s_kv, d}, heads.position, 1);
  }
  Tensor transposed_keys(const FusedHeads& heads, Index d) {
    return memory(heads, {p_.b, p_.g, d, p_.s_kv}, 1, heads.position);
  }
  /// One number for each query, in memory.
  Tensor numbers(const FusedHeads& heads) {
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
  Tensor memory(const FusedHeads& heads, const FusedGraph::Extents& sizes, Index row,
                Index column) {
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

  const FusedProblem& p_;
};

}  // namespace

/// Builds O = softmax(scale Q K^T + mask) V with lse, in fp32 up to the probabilities, which are
/// rounded to the inputs' type.
FusedGraph forward_graph(const FusedProblem& p) {
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

/// Builds the gradients from q, k, v, o, lse: scores are made again, dv is a product of p, and dk
/// and dq are products of ds = p (dp - delta).
FusedGraph backward_graph(const FusedProblem& p) {
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

}  // namespace mpitron::kernels::cuda::attention
