#pragma once
#include <vector>

#include "autograd/cached_pass.h"
#include "autograd/recomputable.h"
#include "nn/base/adapter_factors.h"
#include "nn/base/branch.h"
#include "nn/base/builder.h"
#include "ops/linear/low_rank.h"

namespace mpitron::nn {

/// The low-rank updates of one linear layer (Hu et al. 2021): y + s B A dropout(x), for each of the
/// parts that the layer's output fuses. Nothing without --lora-rank and adapters.
class LowRankUpdates {
 public:
  /// The layer, by what drops its input: [.., in].
  struct Layer {
    DropoutSite site = {};
    Index in = 0;
  };
  /// A part by its name, of `out` rows in the whole model; on this rank they are `blocks`.
  /// `rows`: which of the whole are here; without ranges an even piece.
  struct Part {
    const char* name = "";
    Index out = 0;
    ops::OutputBlocks blocks = {};
    tensor::Shard rows = {};
  };

  LowRankUpdates() = default;
  /// Makes updates of a column parallel layer: A lies on every rank, B is cut by rows.
  static LowRankUpdates of_columns(const Builder& builder, const Layer& layer,
                                   const std::vector<Part>& parts);
  /// Makes updates of a row parallel layer: A is cut by columns, B lies on every rank.
  static LowRankUpdates of_rows(const Builder& builder, const Layer& layer, const char* name,
                                Index out);

  /// Makes updates of a layer that every rank has whole and that sees its rows of a cut sequence:
  /// so are A and B.
  static LowRankUpdates of_whole(const Builder& builder, const Layer& layer, const char* name,
                                 Index out);

  bool empty() const { return updates_.empty(); }
  /// y [s, b, out_local] of x, as it goes into the layer. In generation rows of sequences with an
  /// adapter get its updates, too: y itself takes them.
  autograd::Var add(autograd::Context& context, const autograd::Recomputable& x,
                    autograd::Var y) const;
  /// Lists what adapters add on rows of generation, for a layer whose output is never made: it
  /// would have `out` columns.
  std::vector<autograd::AdaptedLayer> adapted(autograd::Context& context, Index out,
                                              DType type) const;

 private:
  struct Update {
    Parameter* a;
    Parameter* b;
    double scale;
    ops::OutputBlocks blocks;
  };
  enum class Cut { columns, rows, nothing };  // of the layer, over a tensor parallel group

  LowRankUpdates(const Builder& builder, DropoutSite site, Cut cut);
  /// Makes the factors of a part, where the configuration updates it.
  void make(const Builder& builder, const Part& part, Index in);
  autograd::Recomputable dropped(autograd::Context& context, const autograd::Recomputable& x) const;
  /// A x on the rows that B is multiplied with.
  autograd::Var compressed(autograd::Context& context, const autograd::Recomputable& x,
                           Parameter& a) const;
  void add_adapters(autograd::Context& context, const autograd::Var& x,
                    const autograd::Var& y) const;

  ops::TensorParallel shared_;
  Cut cut_ = Cut::columns;
  double dropout_ = 0;
  DropoutSite site_ = {};
  Index layer_ = 0;
  std::vector<Update> updates_;
  std::vector<AdapterPlace> places_;
};

}  // namespace mpitron::nn
