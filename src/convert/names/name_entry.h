#pragma once
#include <array>
#include <span>

namespace mpitron::convert {

/// Sizes that tensors are made of.
enum class Extent {
  none,
  hidden,
  padded_vocabulary,
  vocabulary,
  positions,
  two,      // types of tokens, classes of BERT's binary head
  queries,  // heads * channels
  keys,     // groups * channels; values are as many
  qkv,      // queries + keys + values
  kv,       // keys + values
  ffn,
  fc1,  // ffn, or both halves of a gated one; so are the next two
  experts,
  expert_ffn,
  expert_fc1,
  shared_ffn,
  shared_fc1,
  // of latent attention
  latent_queries,    // heads * (plain + rotary)
  latent_values,     // heads * value
  latent_kv,         // heads * (plain + value)
  query_rank,        // of the compressed queries
  kv_rank,           // of the compressed keys and values
  kv_rank_and_rope,  // with the rotary part of the keys
  // of relative positions
  buckets,
  heads,
  // of attention with output gates and norms of heads
  one,
  channels,       // of a head
  gated_queries,  // a query and its gate a head
  gated_qkv,      // gated queries + keys + values
  // of Mamba mixers
  mamba_width,      // heads * head size
  mamba_channels,   // x, B, C
  mamba_projected,  // z, x, B, C, dt
  mamba_heads,
  mamba_taps,  // of the convolution
  // of delta nets
  delta_channels,   // q, k, v
  delta_streams,    // q, k, v, z
  delta_rates,      // beta, alpha
  delta_projected,  // streams + rates
  delta_heads,      // of values
  delta_values,     // heads * value size
  delta_value_dim,
  delta_taps,
  // of images
  patch_pixels,  // channels * rows * columns of a patch
  image_classes,
  tower_width,  // of the image encoder, seen from the projector: behind shuffled pixels fourfold
  projector_width
};

/// How columns of gate and up lie where all experts of a layer are one tensor
/// (formats/stacked_experts.h).
enum class GateColumns { in_turn, halves };

/// How rows are ordered in ours.
enum class Rows {
  in_order,
  query_groups,             // theirs: all queries, all keys, all values; ours: per group
                            // those of the group
  query_groups_as_rotated,  // the same where both rotate neighbours
  key_values,               // theirs: all keys, all values; ours: per group its key and its
                            // value
  gated_query_groups,       // as query_groups, each query head of theirs with its gate
  key_heads  // theirs: what belongs to a key head of a delta net side by side; ours: all queries,
             // all keys, ...
};

/// The models or layers that have such a tensor.
enum class When {
  always,
  linear_bias,
  qkv_bias,
  untied,
  attention_layer,
  mamba_layer,
  delta_layer,
  dense_layer,
  expert_layer,
  shared_expert,
  compressed_queries,
  plain_queries
};

/// How a tensor is cut here and there, where it is not [rows], or [rows, columns] in both.
enum class Form {
  plain,
  convolution,  // both [rows, 1, columns]: a filter a channel
  patches,      // ours [rows, columns], theirs [rows, channels, edge, edge]
  pixels,       // theirs likewise, and columns of ours are in the order row, column, channel
  token,        // ours [1, columns], theirs [columns]
  batch_of_one  // ours [rows, columns], theirs [1, rows, columns]
};

/// How theirs come into ours: as they are, or times sqrt(channels), where their attention has no
/// scale of its own.
enum class Factor { one, sqrt_channels };

/// One of their tensors that make up ours, and how many of our rows it holds.
struct Theirs {
  const char* name = nullptr;
  Extent rows = Extent::none;
  Factor factor = Factor::one;
};

/// A rule before the sizes are known; {} stands for the layer, {e} for the expert.
struct Entry {
  const char* ours = nullptr;
  Extent rows = Extent::none;
  Extent columns = Extent::none;
  std::array<Theirs, 3> theirs = {};  // none: theirs have no such tensor, ours is zero
  Rows order = Rows::in_order;
  bool transposed = false;
  Form form = Form::plain;
  When when = When::always;

  constexpr Entry transpose() const {
    Entry entry = *this;
    entry.transposed = true;
    return entry;
  }
  constexpr Entry only(When condition) const {
    Entry entry = *this;
    entry.when = condition;
    return entry;
  }
  constexpr Entry ordered(Rows rows_order) const {
    Entry entry = *this;
    entry.order = rows_order;
    return entry;
  }
};

/// A tensor [rows] on both sides.
constexpr Entry vector(const char* ours, Extent rows, const char* theirs) {
  return {.ours = ours, .rows = rows, .theirs = {{{theirs, rows}}}};
}

/// A tensor [rows, columns] on both sides.
constexpr Entry matrix(const char* ours, Extent rows, Extent columns, const char* theirs) {
  return {.ours = ours, .rows = rows, .columns = columns, .theirs = {{{theirs, rows}}}};
}

/// A tensor [rows, 1, columns] on both sides: a filter a channel.
constexpr Entry convolution(const char* ours, Extent rows, Extent columns, const char* theirs) {
  Entry entry = matrix(ours, rows, columns, theirs);
  entry.form = Form::convolution;
  return entry;
}

/// A matrix that patches of an image are multiplied by.
constexpr Entry patches(const char* ours, Extent rows, const char* theirs) {
  Entry entry = matrix(ours, rows, Extent::patch_pixels, theirs);
  entry.form = Form::patches;
  return entry;
}

/// Such a matrix that has the three colours of a pixel side by side here.
constexpr Entry pixels(const char* ours, Extent rows, const char* theirs) {
  Entry entry = patches(ours, rows, theirs);
  entry.form = Form::pixels;
  return entry;
}

/// A matrix that is the same for all images: of a batch of one there.
constexpr Entry batch_of_one(const char* ours, Extent rows, Extent columns, const char* theirs) {
  Entry entry = matrix(ours, rows, columns, theirs);
  entry.form = Form::batch_of_one;
  return entry;
}

/// A row of its own: a vector there.
constexpr Entry token(const char* ours, Extent columns, const char* theirs) {
  Entry entry = matrix(ours, Extent::one, columns, theirs);
  entry.form = Form::token;
  return entry;
}

/// A tensor by words. Their rows stand for tokens only; ours are padded. `columns` none: a vector.
constexpr Entry padded(const char* ours, Extent columns, const char* theirs) {
  return {.ours = ours,
          .rows = Extent::padded_vocabulary,
          .columns = columns,
          .theirs = {{{theirs, Extent::vocabulary}}}};
}

/// A tensor of several of theirs, one below the other.
constexpr Entry joined(const char* ours, Extent rows, Extent columns,
                       std::array<Theirs, 3> theirs) {
  return {.ours = ours, .rows = rows, .columns = columns, .theirs = theirs};
}

/// A beginning of their names as the tables have it, and as files of other releases have it.
struct Spelling {
  const char *usual, *other;
};

/// Entries that stand together: all of a layer, or all of the model.
using EntryBlock = std::span<const Entry>;

}  // namespace mpitron::convert
