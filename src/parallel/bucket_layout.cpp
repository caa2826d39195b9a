// Lays parameters out in buckets. It is a pure function of sizes and options, so that all ranks
// have the same layout without asking each other.
#include "parallel/bucket_layout.h"

namespace mpitron::parallel {
namespace {

constexpr Index kBandwidthUnit = Index{1} << 16;

Index round_up(Index n, Index unit) {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

/// Parameters lie in reverse order of their creation, since gradients come in that order; a bucket
/// closes once it is large enough and is padded so that all shards are equal.
BucketLayout lay_out_buckets(std::span<const LayoutItem> items, const BucketRules& rules) {
  BucketLayout layout{.offsets = std::vector<Index>(items.size()), .buckets = {}};
  const Index unit =
      rules.shards * (rules.pad_for_bandwidth ? kBandwidthUnit : BucketLayout::kAlignment);
  bool open = false;
  for (std::size_t i = items.size(); i-- > 0;) {
    if (open && items[i].section != items[i + 1].section) {
      open = false;
    }
    if (!open) {
      const Index begin = layout.numel();
      layout.buckets.push_back({.begin = begin, .end = begin, .items = {}});
      open = true;
    }
    // While a bucket is open its end is that of its last parameter; padding comes when it closes.
    BucketLayout::Bucket& bucket = layout.buckets.back();
    layout.offsets[i] = round_up(bucket.end, BucketLayout::kAlignment);
    bucket.end = layout.offsets[i] + items[i].numel;
    bucket.items.push_back(i);
    open = !(rules.bucket_size && bucket.end - bucket.begin >= *rules.bucket_size);
    const bool closes = !open || i == 0 || items[i - 1].section != items[i].section;
    if (closes) {
      bucket.end = bucket.begin + round_up(bucket.end - bucket.begin, unit);
    }
  }
  return layout;
}

}  // namespace mpitron::parallel
