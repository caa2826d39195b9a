#include <algorithm>

#include "cli/generation/loaded_model.h"
#include "inference/scheduling/batching_limits.h"
#include "nn/layers/layer_rows.h"
#include "utils/error.h"

// How large a cache fits: bytes of a sequence's state and of a block, and the number of blocks.

namespace mpitron::cli {
namespace {

constexpr double kGigabyte = 1 << 30;

}  // namespace

template <class F>
void CacheSize::for_layers(config::LayerState state, F&& f) const {
  for (Index number = first_layer + 1; number <= first_layer + layers; ++number) {
    const config::LayerSpec spec = config::layer_spec(config, number);
    if (config::facts(spec.mixer).state == state) {
      f(spec);
    }
  }
}

/// Counts every recurrent layer of the stage, divided over its tensor ranks.
Index CacheSize::state_bytes() const {
  const auto of_conv = static_cast<double>(size_of(states.of_conv(config.params_dtype)));
  const auto of_recurrence = static_cast<double>(size_of(states.of_recurrence()));
  double bytes = 0;
  for_layers(config::LayerState::recurrent, [&](const config::LayerSpec& spec) {
    const nn::LayerCosts costs = nn::layer_costs(config, spec);
    bytes += costs.conv_state * of_conv + (costs.state - costs.conv_state) * of_recurrence;
  });
  return 2 * static_cast<Index>(bytes / static_cast<double>(tensor_ranks));
}

/// Counts a block once for all layers that keep keys. Latent attention keeps its latent and the
/// rotated key; other attention keeps keys and values of the query groups that a tensor rank has.
Index CacheSize::block_bytes() const {
  Index cached = 0;
  for_layers(config::LayerState::key_value_cache, [&](const config::LayerSpec&) { ++cached; });
  const bool latent = config.multi_latent_attention;
  return inference::BlockContents{
      .layers = cached,
      .positions = block_size,
      .groups = std::max<Index>(1, config.num_query_groups / tensor_ranks),
      .head_dim = config.kv_channels,
      .latent_width = latent ? config.kv_lora_rank + config.qk_pos_emb_head_dim : 0,
      .dtype = config.params_dtype,
      .cache = cache}
      .bytes();
}

double CacheSize::room(double gigabytes) const {
  constexpr double kShareOfTheRest = 0.9;
  return gigabytes > 0 ? gigabytes * kGigabyte : kShareOfTheRest * static_cast<double>(free_memory);
}

Index CacheSize::usual_snapshots(Index requests, double gigabytes) const {
  constexpr Index kOfARequest = 4;
  constexpr double kShare = 0.25;
  const double left = room(gigabytes) - static_cast<double>(requests * state_bytes());
  const Index wanted = kOfARequest * requests;
  const Index bytes = std::max<Index>(snapshot_bytes(), 1);
  return std::clamp(static_cast<Index>(kShare * left) / bytes, Index{0}, wanted);
}

/// Rounds a sequence's blocks up to the context ranks, which hold them in turn. States are
/// subtracted first, as every request has its own. An explicit size is used up; without one no more
/// is taken than all requests can fill.
Index CacheSize::blocks(Index requests, double gigabytes) const {
  const auto blocks_for = [&](Index tokens) { return (tokens + block_size - 1) / block_size; };
  const bool encodes = config.family().encoder_decoder;
  const Index of_one = encodes
                           ? blocks_for(config.decoder_seq_length) + blocks_for(config.seq_length)
                           : blocks_for(config.max_position_embeddings);
  const Index one = (of_one + context_ranks - 1) / context_ranks * context_ranks;
  const auto states = static_cast<double>(requests * state_bytes() + snapshots * snapshot_bytes());
  const double room = this->room(gigabytes);
  const auto keys = static_cast<double>(one / context_ranks * block_bytes());
  if (states + keys > room) {
    throw_usage(
        "a sequence of full length needs {:.3f} GB of keys and values on each rank, states of "
        "--inference-max-requests {} and --inference-state-snapshots {} need {:.3f} GB, and there "
        "are {:.3f}: give --inference-dynamic-batching-buffer-size-gb more, or a smaller "
        "--inference-max-seq-length{}",
        keys / kGigabyte, requests, snapshots, states / kGigabyte, room / kGigabyte,
        cache == kernels::CacheType::e4m3 ? "" : ", or --kv-cache-dtype fp8_e4m3");
  }
  if (block_bytes() == 0) {
    return one * requests;
  }
  const auto fits =
      static_cast<Index>((room - states) / static_cast<double>(block_bytes())) * context_ranks;
  return gigabytes > 0 ? fits : std::min(fits, one * requests);
}

}  // namespace mpitron::cli
