#include "convert/names/row_orders.h"

// Orders of rows as lists of moves: fused queries, keys and values in groups, pairs of a rotation,
// halves of gated layers, parts of a mixer's projection.

namespace mpitron::convert {
namespace {

using config::ModelConfig;
using config::PositionEmbedding;

/// Moves the rows of one query or key head. Theirs rotate the two halves of a head against each
/// other; where ours rotate neighbours, row 2i of ours is row i of theirs, row 2i + 1 is row i +
/// d/2.
void move_head(const ModelConfig& m, Index ours, Index theirs, std::vector<RowMove>& moves) {
  const Index d = m.kv_channels;
  if (!m.rotary_interleaved || m.position_embedding_type != PositionEmbedding::rope) {
    moves.push_back({ours, theirs, d});
    return;
  }
  for (Index i = 0; i < d / 2; ++i) {
    moves.push_back({ours + 2 * i, theirs + i, 1});
    moves.push_back({ours + 2 * i + 1, theirs + i + d / 2, 1});
  }
}

/// Theirs: all queries, all keys, all values; ours: per group its queries, its key and its value,
/// so that a tensor rank's groups lie together.
std::vector<RowMove> group_moves(const ModelConfig& m) {
  const Index d = m.kv_channels, g = m.num_query_groups, heads = m.num_attention_heads / g;
  const Index first_key = m.num_attention_heads * d, first_value = first_key + g * d;
  std::vector<RowMove> moves;
  for (Index group = 0; group < g; ++group) {
    Index ours = group * (heads + 2) * d;
    for (Index head = 0; head < heads; ++head, ours += d) {
      move_head(m, ours, (group * heads + head) * d, moves);
    }
    move_head(m, ours, first_key + group * d, moves);
    moves.push_back({ours + d, first_value + group * d, d});
  }
  return moves;
}

/// Theirs: all keys, all values; ours: per group its key and its value. Cross attention has no
/// rotary positions: heads move whole.
std::vector<RowMove> key_value_moves(const ModelConfig& m) {
  const Index d = m.kv_channels, g = m.num_query_groups;
  std::vector<RowMove> moves;
  for (Index group = 0; group < g; ++group) {
    moves.push_back({2 * group * d, group * d, d});
    moves.push_back({(2 * group + 1) * d, (g + group) * d, d});
  }
  return moves;
}

/// Theirs: each query head and its gate side by side, then all keys, all values; ours: per group
/// its queries, their gates, its key and its value.
std::vector<RowMove> gated_group_moves(const ModelConfig& m) {
  const Index d = m.kv_channels, g = m.num_query_groups, heads = m.num_attention_heads / g;
  const Index first_key = 2 * m.num_attention_heads * d, first_value = first_key + g * d;
  std::vector<RowMove> moves;
  for (Index group = 0; group < g; ++group) {
    const Index ours = group * (2 * heads + 2) * d, key = ours + 2 * heads * d;
    for (Index head = 0; head < heads; ++head) {
      const Index theirs = 2 * (group * heads + head) * d;
      move_head(m, ours + head * d, theirs, moves);
      moves.push_back({ours + (heads + head) * d, theirs + d, d});
    }
    move_head(m, key, first_key + group * d, moves);
    moves.push_back({key + d, first_value + group * d, d});
  }
  return moves;
}

/// Theirs: per key head its query, its key, and of its value heads the values and the gates; then
/// per key head the betas and the alphas of its value heads. Ours: all queries, all keys, ...
std::vector<RowMove> delta_moves(const config::DeltaNetConfig& net) {
  const Index key = net.key_dim, shared = net.value_heads / net.key_heads;
  const Index value = shared * net.value_dim;
  const Index keys = net.keys(), values = net.values();
  const Index first_beta = 2 * (keys + values);
  std::vector<RowMove> moves;
  for (Index head = 0; head < net.key_heads; ++head) {
    Index theirs = head * 2 * (key + value);
    moves.push_back({head * key, theirs, key});
    moves.push_back({keys + head * key, theirs + key, key});
    theirs += 2 * key;
    moves.push_back({2 * keys + head * value, theirs, value});
    moves.push_back({2 * keys + values + head * value, theirs + value, value});
    theirs = first_beta + head * 2 * shared;
    moves.push_back({first_beta + head * shared, theirs, shared});
    moves.push_back({first_beta + net.value_heads + head * shared, theirs + shared, shared});
  }
  return moves;
}

}  // namespace

std::vector<RowMove> moves_of(Rows order, const ModelConfig& m, Index rows) {
  switch (order) {
    case Rows::query_groups:
      return group_moves(m);
    case Rows::query_groups_as_rotated: {
      ModelConfig alike = m;
      alike.rotary_interleaved = false;
      return group_moves(alike);
    }
    case Rows::key_values:
      return key_value_moves(m);
    case Rows::gated_query_groups:
      return gated_group_moves(m);
    case Rows::key_heads:
      return delta_moves(m.hybrid.delta_net);
    case Rows::in_order:
      break;
  }
  return {{0, 0, rows}};
}

}  // namespace mpitron::convert
