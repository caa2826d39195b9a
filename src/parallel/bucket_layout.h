#pragma once
#include <optional>
#include <span>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::parallel {

/// A parameter as the layout sees it. Neighbours with different `section` never share a bucket
/// (a tied embedding that other stages shard likewise).
struct LayoutItem {
  Index numel = 0;
  Index section = 0;
};

struct BucketRules {
  std::optional<Index> bucket_size;  // a bucket ends once it has so many elements; none: one bucket
  Index shards = 1;                  // ranks that own equal parts of every bucket
  bool pad_for_bandwidth = false;    // parts are multiples of 2^16 elements
};

/// Places of all parameters in one flat buffer. Parameters are laid in reverse order of creation,
/// which is about the order in which backward passes finish their gradients; each starts at a
/// multiple of kAlignment elements, and so does every shard of a bucket. Shards may cut through
/// parameters.
struct BucketLayout {
  static constexpr Index kAlignment = 64;
  struct Bucket {
    Index begin = 0, end = 0;        // elements
    std::vector<std::size_t> items;  // as they lie
  };
  std::vector<Index> offsets;  // of each item
  std::vector<Bucket> buckets;
  Index numel() const { return buckets.empty() ? 0 : buckets.back().end; }
};

/// `items` in the order of their creation.
BucketLayout lay_out_buckets(std::span<const LayoutItem> items, const BucketRules& rules);

}  // namespace mpitron::parallel
