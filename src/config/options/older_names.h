#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Names of older releases that scripts still carry; the reference's parser no longer knows them.
inline constexpr std::array kOlderNames = {
    integer("encoder-pipeline-model-parallel-size", "0", refused,
            "pipeline stages of a T5 encoder"),
    integer("pipeline-model-parallel-split-rank", none, refused,
            "first pipeline rank of a T5 decoder"),
    flag("standalone-embedding-stage", refused, "pipeline stage of the embedding alone")
        .use("--pipeline-model-parallel-layout"),
    flag("delay-param-gather", deprecated, "is the default now"),
    flag("no-query-key-layer-scaling", deprecated, "is the default now"),
    text("DDP-impl", "local", refused, "data parallelism of another framework")
        .choose("local torch"),
};

}  // namespace mpitron::config::rows
