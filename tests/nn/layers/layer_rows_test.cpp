#include "nn/layers/layer_rows.h"

#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::nn {
namespace layer_rows_test {

/// Parameters of a layer that is made without values.
double made_parameters(const config::ModelConfig& model, Index number) {
  const comm::ParallelGroups groups = comm::groups_of_one(*comm::make_single_world());
  autograd::ParameterList parameters;
  const Builder builder({model, groups, parameters});
  const config::LayerSpec spec = config::layer_spec(model, number);
  const auto mixer = row_of(spec.mixer).make(builder, number, spec);
  const auto network = row_of(spec.feed_forward).make(builder, number);
  double count = 0;
  for (const autograd::Parameter& parameter : parameters) {
    count += static_cast<double>(parameter.shape.numel());
  }
  return count;
}

/// Every kind, with widths that differ where they may.
config::ModelConfig model_of(const std::string& flags) {
  return test::parse_base(
             "--disable-bias-linear --normalization RMSNorm --swiglu --ffn-hidden-size 48 " + flags)
      .run.model;
}

constexpr const char* kLatent =
    "--multi-latent-attention --q-lora-rank 12 --kv-lora-rank 20 --qk-layernorm";
constexpr const char* kByLetters =
    "--model mamba --hybrid-layer-pattern M*G- --mamba-head-dim 8 --mamba-num-groups 2 "
    "--mamba-state-dim 16 --linear-num-key-heads 2 --linear-num-value-heads 4 "
    "--linear-key-head-dim 8 --linear-value-head-dim 4";
constexpr const char* kSparse =
    "--model mamba --hybrid-layer-pattern D+-- --q-lora-rank 6 --kv-lora-rank 5 --qk-layernorm "
    "--qk-pos-emb-head-dim 8 --dsa-indexer-n-heads 3 --dsa-indexer-head-dim 8 --dsa-indexer-topk "
    "4";

TEST(LayerRows, WeightsAreThoseOfWhatTheRowMakes) {
  for (const char* flags : {"", kLatent, kByLetters, kSparse}) {
    const config::ModelConfig model = model_of(flags);
    for (Index number = 1; number <= model.num_layers; ++number) {
      const config::LayerSpec spec = config::layer_spec(model, number);
      LayerCosts costs = row_of(spec.mixer).costs(model);
      costs += row_of(spec.feed_forward).costs(model);
      EXPECT_EQ(costs.weights, made_parameters(model, number))
          << flags << ", " << spec.mixer_name();
    }
  }
}

TEST(LayerRows, NormsBehindTheHalvesCountAsThoseInFront) {
  const std::string norms = "--post-self-attn-layernorm --post-mlp-layernorm";
  const config::ModelConfig plain = model_of(""), more = model_of(norms);
  const config::LayerSpec spec = config::layer_spec(plain, 1);
  const auto h = static_cast<double>(plain.hidden_size);
  EXPECT_EQ(layer_costs(more, spec).weights - layer_costs(plain, spec).weights, 4 * h);
  EXPECT_EQ(layer_costs(more, spec).kept_bytes - layer_costs(plain, spec).kept_bytes, 4 * h);
  for (const auto work : {mixer_work, feed_forward_work}) {
    EXPECT_EQ(work(more, spec).launches, work(plain, spec).launches + 1);
  }
}

TEST(LayerRows, ALayerAlsoHasANormForEachHalf) {
  const config::ModelConfig model = model_of(kByLetters);
  const auto h = static_cast<double>(model.hidden_size);
  const auto mixer = config::layer_spec(model, 1), network = config::layer_spec(model, 4);
  EXPECT_EQ(layer_costs(model, mixer).weights - row_of(mixer.mixer).costs(model).weights, 2 * h);
  EXPECT_EQ(layer_costs(model, network).weights - row_of(network.feed_forward).costs(model).weights,
            2 * h);
}

TEST(LayerRows, ARecurrentStateDoesNotGrowWithTheSequence) {
  for (const config::MixerFacts& facts : config::mixer_kinds()) {
    config::ModelConfig model = model_of(kByLetters);
    const double before = row_of(facts.kind).costs(model).state;
    model.seq_length *= 2;
    const double factor = facts.state == config::LayerState::key_value_cache ? 2 : 1;
    EXPECT_EQ(row_of(facts.kind).costs(model).state, factor * before) << facts.name;
    EXPECT_EQ(before > 0, facts.state != config::LayerState::none) << facts.name;
  }
}

}  // namespace layer_rows_test
}  // namespace mpitron::nn
