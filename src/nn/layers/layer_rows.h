#pragma once
#include <memory>

#include "config/layer_pattern.h"
#include "nn/base/builder.h"
#include "nn/base/layer_parts.h"
#include "nn/base/layer_work.h"

// One row for each kind of mixer and feed-forward network: how a layer makes it, what it costs,
// what it carries. A new kind is its own files and a row here.

namespace mpitron::nn {

/// Row of a kind of mixer: what it is to a layer and to those who count; config::MixerFacts has
/// what the flags and rules know of it.
struct MixerRow {
  config::MixerKind kind;
  const char* norm;        // names of parameters in a layer: of the norm in front,
  const char* parameters;  // and in front of those of the mixer
  LayerCosts (*costs)(const config::ModelConfig& model);
  LayerWork (*work)(const config::ModelConfig& model, const config::LayerSpec& spec);
  std::unique_ptr<Mixer> (*make)(const Builder& builder, Index number,
                                 const config::LayerSpec& spec);
};

struct FeedForwardRow {
  config::FeedForwardKind kind;
  config::RecomputeModule recompute;  // the word of --recompute-modules that drops it as a whole
  LayerCosts (*costs)(const config::ModelConfig& model);
  LayerWork (*work)(const config::ModelConfig& model, const config::LayerSpec& spec);
  std::unique_ptr<FeedForward> (*make)(const Builder& builder, Index number);
};

/// One row a kind. That of `none` makes nothing and costs nothing.
const MixerRow& row_of(config::MixerKind kind);
const FeedForwardRow& row_of(config::FeedForwardKind kind);

/// Returns the costs of both halves, each with its norms (a weight and a bias), without cross
/// attention.
LayerCosts layer_costs(const config::ModelConfig& model, const config::LayerSpec& spec);

/// Return the work of each half, with the norms around it.
LayerWork mixer_work(const config::ModelConfig& model, const config::LayerSpec& spec);
LayerWork feed_forward_work(const config::ModelConfig& model, const config::LayerSpec& spec);

}  // namespace mpitron::nn
