#include "ops/attention/attention_chunks.h"

#include "ops/attention/attention.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace attention_chunks_test {

using Rows = std::vector<std::array<Index, 4>>;

Rows rows_of(const kernels::AttentionPositions& positions, Index s, Index s_kv, Index chunk) {
  Rows rows;
  for (const ChunkRows& part : chunk_rows(positions, s, s_kv, chunk)) {
    rows.push_back({part.first_query, part.end_query, part.first_key, part.end_key});
  }
  return rows;
}

TEST(ChunkRows, AreNeighboursInEveryOrderOfPositions) {
  EXPECT_EQ(rows_of({}, 5, 5, 2), (Rows{{0, 2, 0, 2}, {2, 4, 2, 4}, {4, 5, 4, 5}}));
  EXPECT_EQ(rows_of({}, 5, 5, 5), (Rows{{0, 5, 0, 5}}));
  // Queries 0 to 1 and 6 to 7 of eight, keys 2 to 5.
  const SequenceMap ends{.split = 2, .offset = {0, 4}}, middle{.split = 2, .offset = {2, 2}};
  EXPECT_EQ(rows_of({.queries = ends, .keys = middle}, 4, 4, 4),
            (Rows{{0, 2, 0, 2}, {2, 4, 2, 4}}));
  EXPECT_EQ(rows_of({.queries = ends, .keys = middle}, 4, 4, 3),
            (Rows{{0, 2, 0, 1}, {2, 2, 1, 4}, {2, 4, 4, 4}}));
}

/// Reference kernels in fp64, with everything that a chunk takes along.
class AttentionChunks : public GradientCheck {
 protected:
  static AttentionSettings settings(Index chunk) {
    AttentionSettings result{.layout = {.heads = 4, .query_groups = 2, .head_dim = 2},
                             .scale = 0.7f};
    result.chunk = chunk;
    return result;
  }
  std::vector<double> attended(const Tensor& qkv, const AttentionSettings& how) {
    Context cx = context();
    return test::values_of(attention(cx, autograd::variable(qkv), how).value);
  }
};

TEST_F(AttentionChunks, BackwardIsTheGradient) {
  AttentionSettings dropped = settings(2);
  dropped.dropout.key = {1, 2};
  dropped.dropout.threshold = kernels::dropout_threshold(0.5);
  AttentionSettings sunk = settings(3);
  sunk.sink = AttentionSettings::Sink::zero;
  for (const AttentionSettings& how : {settings(1), settings(3), dropped, sunk}) {
    expect_gradients(
        {random({5, 2, how.layout.width()})},
        [&](Context& cx, const std::vector<Var>& x) { return attention(cx, x[0], how); });
  }
}

TEST_F(AttentionChunks, HideWhatAMaskOfOtherChunksHides) {
  const Tensor qkv = random({7, 2, 16});
  for (const Index chunk : {1, 2, 3, 6, 7, 100}) {
    std::vector<std::uint8_t> hidden;
    for (Index at = 0; at < 49; ++at) {
      hidden.push_back(at / 7 / chunk != at % 7 / chunk ? 1 : 0);
    }
    AttentionSettings masked = settings(0), dropped = settings(chunk);
    masked.mask = test::make_mask(*device_, {1, 7, 7}, hidden);
    EXPECT_EQ(attended(qkv, settings(chunk)), attended(qkv, masked)) << chunk;
    masked.dropout.key = dropped.dropout.key = {1, 2};
    masked.dropout.threshold = dropped.dropout.threshold = kernels::dropout_threshold(0.5);
    EXPECT_EQ(attended(qkv, dropped), attended(qkv, masked)) << chunk;
    dropped.mask = test::make_mask(*device_, {1, 7, 7}, std::vector<std::uint8_t>(49));
    EXPECT_EQ(attended(qkv, dropped), attended(qkv, masked)) << chunk;
  }
}

}  // namespace attention_chunks_test
}  // namespace mpitron::ops
