#include "cli/generation/cache_size.h"

#include <algorithm>

#include "inference/scheduling/batching_limits.h"
#include "utils/error.h"
#include "utils/system/machine.h"

namespace mpitron::cli {

Index CacheSize::block_bytes() const {
  const bool latent = config.multi_latent_attention;
  return inference::BlockContents{
      .layers = layers,
      .positions = block_size,
      .groups = std::max<Index>(1, config.num_query_groups / tensor_ranks),
      .head_dim = config.kv_channels,
      .latent_width = latent ? config.kv_lora_rank + config.qk_pos_emb_head_dim : 0,
      .dtype = config.params_dtype}
      .bytes();
}

Index CacheSize::blocks(Index requests, double gigabytes) const {
  constexpr double kGigabyte = 1 << 30, kShareOfTheRest = 0.9;
  const auto blocks_for = [&](Index tokens) { return (tokens + block_size - 1) / block_size; };
  const bool encodes = config.family().encoder_decoder;
  const Index of_one = encodes
                           ? blocks_for(config.decoder_seq_length) + blocks_for(config.seq_length)
                           : blocks_for(config.max_position_embeddings);
  const Index one = (of_one + context_ranks - 1) / context_ranks * context_ranks;
  const double room =
      gigabytes > 0 ? gigabytes * kGigabyte : kShareOfTheRest * static_cast<double>(free_memory());
  const auto fits = static_cast<Index>(room / static_cast<double>(block_bytes())) * context_ranks;
  if (fits < one) {
    throw_usage(
        "a sequence of full length needs {:.3f} GB of keys and values on each rank, and there are "
        "{:.3f}: give --inference-dynamic-batching-buffer-size-gb more, or a smaller "
        "--inference-max-seq-length",
        static_cast<double>(one / context_ranks * block_bytes()) / kGigabyte, room / kGigabyte);
  }
  return gigabytes > 0 ? fits : std::min(fits, one * requests);
}

}  // namespace mpitron::cli
