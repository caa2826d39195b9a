#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

inline constexpr std::array kMla = {
    integer("q-lora-rank", none, works, "rank of the compressed queries; none: direct projection"),
    integer("kv-lora-rank", "32", works, "rank of the compressed keys and values"),
    integer("qk-head-dim", "128", works, "part of a query/key head without positions"),
    integer("qk-pos-emb-head-dim", "64", works, "part of a query/key head with rotary positions"),
    integer("v-head-dim", "128", works, "dimension of a value head"),
    real("rotary-scaling-factor", "1.0", works, "stretching factor of YaRN"),
    real("mscale", "1.0", works, "numerator of YaRN's attention factor"),
    real("mscale-all-dim", "0.0", works, "denominator of YaRN's attention factor"),
    flag("cache-mla-latents", later, "cache the compressed keys and values when generating"),
};

}  // namespace mpitron::config::rows
