#pragma once
#include <vector>

#include "autograd/cached_pass.h"
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// Columns of a layer's output that one part of it writes: `count` blocks of `width`, their first
/// columns `stride` apart (the queries of fused groups, one half of a gated layer).
struct OutputBlocks {
  Index first = 0;
  Index width = 0;
  Index stride = 0;
  Index count = 1;
};

/// The second factors B [count * width, r] of groups of rows: `rows[i]` of them are multiplied by
/// `weights[i]`. A vector, such as a bias, is a factor of r = 1.
struct RowGroups {
  std::vector<Parameter*> weights;
  std::vector<Index> rows;
};

/// y[..., blocks] + u B^T, where u [..., r] is A x times the update's factor (Hu et al. 2021): y
/// itself takes the sum, so it is given away.
///
/// Numerical contract: products as linear.h; the sum is rounded once more to y's type. In fp32 the
/// products add to y themselves.
Var add_low_rank(Context& context, Var y, const Var& u, const RowGroups& groups,
                 const OutputBlocks& blocks);

/// What the bias of a row's group is multiplied by: the row's factor [m], or 1, times `share`. It
/// is 0 on ranks whose sum with others has the biases already.
struct BiasWeights {
  const Var* factors = nullptr;
  float share = 1;
};

/// y [m, out] plus the weighed bias [out] of each row's group; y itself where there are no biases,
/// else given away.
///
/// Numerical contract: as add_low_rank, whose u is the weight in y's type.
Var add_group_biases(Context& context, Var y, const RowGroups& biases, const BiasWeights& weights);

/// A context of generation whose products read the weights of an adapter.
class AdaptedContext {
 public:
  AdaptedContext(Context& outer, autograd::Adapter& adapter)
      : pass_{.cache = outer.cached->cache,
              .states = outer.cached->states,
              .weights = adapter.weights(),
              .pieces = {}},
        context_{.device = outer.device, .mode = outer.mode, .cached = &pass_} {}
  AdaptedContext(const AdaptedContext&) = delete;
  AdaptedContext& operator=(const AdaptedContext&) = delete;

  Context& context() { return context_; }

 private:
  autograd::CachedPass pass_;
  Context context_;
};

/// y += u weight^T, where u is [t, r], y [t, out] and the weight [out, r].
///
/// Numerical contract: the product as linear.h, rounded to y's type; the sum is rounded once more.
void add_product(Context& context, const tensor::Tensor& u, Parameter& weight,
                 const tensor::Tensor& y);

}  // namespace mpitron::ops
