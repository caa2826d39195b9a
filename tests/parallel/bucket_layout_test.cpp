#include "parallel/bucket_layout.h"

#include <gtest/gtest.h>

namespace mpitron::parallel {
namespace bucket_layout_test {

std::vector<LayoutItem> items(const std::vector<Index>& sizes) {
  std::vector<LayoutItem> result;
  for (const Index numel : sizes) {
    result.push_back({.numel = numel});
  }
  return result;
}

TEST(BucketLayout, LaysParametersInReverseAtMultiplesOf64) {
  const BucketLayout layout = lay_out_buckets(items({6, 70, 64}), {});
  EXPECT_EQ(layout.offsets, (std::vector<Index>{192, 64, 0}));
  ASSERT_EQ(layout.buckets.size(), 1u);
  EXPECT_EQ(layout.buckets[0].items, (std::vector<std::size_t>{2, 1, 0}));
  EXPECT_EQ(layout.numel(), 256);
}

/// Buckets end when they have the size, and are padded so that every shard starts at 64 elements.
TEST(BucketLayout, ClosesBucketsAtTheirSize) {
  const BucketLayout layout =
      lay_out_buckets(items({10, 100, 100, 10}), {.bucket_size = 110, .shards = 3});
  ASSERT_EQ(layout.buckets.size(), 2u);
  EXPECT_EQ(layout.buckets[0].items, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(layout.buckets[0].end, 192);
  EXPECT_EQ(layout.buckets[1].begin, 192);
  EXPECT_EQ(layout.buckets[1].items, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(layout.buckets[1].end, 192 + 192);
  EXPECT_EQ(layout.offsets, (std::vector<Index>{192 + 128, 192, 64, 0}));
}

TEST(BucketLayout, SectionsDoNotShareBuckets) {
  const BucketLayout layout = lay_out_buckets(
      std::vector<LayoutItem>{{.numel = 1, .section = 1}, {.numel = 2}, {.numel = 3}}, {});
  ASSERT_EQ(layout.buckets.size(), 2u);
  EXPECT_EQ(layout.buckets[0].items, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(layout.buckets[1].items, (std::vector<std::size_t>{0}));
}

TEST(BucketLayout, PadsForBandwidthWhenAsked) {
  EXPECT_EQ(lay_out_buckets(items({1}), {.shards = 2, .pad_for_bandwidth = true}).numel(), 2 << 16);
}

/// Whatever the sizes: no overlap, aligned starts, shards of whole 64-element blocks.
TEST(BucketLayout, HoldsItsInvariants) {
  for (const Index shards : {1, 2, 3, 8}) {
    for (const Index size : {1, 100, 1000, 1 << 20}) {
      std::vector<LayoutItem> all;
      for (Index i = 0; i < 40; ++i) {
        all.push_back({.numel = 1 + i * 37 % 301, .section = i / 25});
      }
      const BucketLayout layout = lay_out_buckets(all, {.bucket_size = size, .shards = shards});
      Index end = 0;
      std::size_t seen = 0;
      for (const BucketLayout::Bucket& bucket : layout.buckets) {
        EXPECT_EQ(bucket.begin, end);
        EXPECT_EQ((bucket.end - bucket.begin) % (64 * shards), 0);
        for (const std::size_t item : bucket.items) {
          EXPECT_GE(layout.offsets[item], end);
          EXPECT_EQ(layout.offsets[item] % 64, 0);
          end = layout.offsets[item] + all[item].numel;
          ++seen;
        }
        EXPECT_LE(end, bucket.end);
        end = bucket.end;
      }
      EXPECT_EQ(seen, all.size());
    }
  }
}

}  // namespace bucket_layout_test
}  // namespace mpitron::parallel
