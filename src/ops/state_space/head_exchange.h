#pragma once
#include <vector>

#include "ops/parallel/sequence_exchange.h"
#include "ops/state_space/recurrence.h"

namespace mpitron::ops {

/// Neighbouring columns that context parallel ranks share out in equal pieces, as many as there are
/// ranks or fewer: then neighbouring ranks have the same.
struct ColumnPart {
  Index begin = 0, width = 0, pieces = 1;
};

/// Exchanges what travels where context parallel ranks share out the heads of a mixer: each rank
/// gets whole sequences of its pieces of the parts (Ulysses, Jacobs et al. 2023). In a group of one
/// nothing does.
///
/// Numerical contract: copies; gradients of a piece that several ranks have are added in rank
/// order.
class HeadExchange {
 public:
  HeadExchange() = default;
  HeadExchange(comm::GroupHandle group, std::vector<ColumnPart> parts)
      : group_(std::move(group)), parts_(std::move(parts)) {}

  HeadShare share() const;
  /// Null where nobody shares.
  comm::Group* group() const { return group_.get(); }
  bool shared() const { return share().size > 1; }
  /// x [s_local, b, w] -> [s, b, own columns of the parts, one behind the other].
  tensor::Tensor to_heads(Context& context, const tensor::Tensor& x) const;
  /// Of a gradient [s, b, own columns]: what comes together for the parts' columns of dx
  /// [s_local, b, w].
  void to_sequence(Context& context, const tensor::Tensor& gradient,
                   const tensor::Tensor& dx) const;
  /// [s, b, w / ranks] of every rank's heads -> [s_local, b, w], and back.
  tensor::Tensor join_heads(Context& context, const tensor::Tensor& y) const;
  tensor::Tensor cut_heads(Context& context, const tensor::Tensor& y) const;
  /// Rows of a parameter whose rows are the columns [first, last): this rank's, in the order of the
  /// parts.
  std::vector<tensor::Shard::Range> own_rows(Index first, Index last) const;

 private:
  tensor::Shard::Range piece(const ColumnPart& part, Index rank) const;
  Index own_width() const;

  comm::GroupHandle group_;
  std::vector<ColumnPart> parts_;
};

}  // namespace mpitron::ops
