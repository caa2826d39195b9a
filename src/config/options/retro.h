#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

inline constexpr std::array kRetro = {
    text("retro-project-dir", none, later, "folder of the retrieval project"),
    flag("retro-add-retriever", later, "let the model read retrieved text"),
    integer("retro-cyclic-train-iters", none, later,
            "iterations after which training data repeats"),
    integer("retro-encoder-layers", "2", later, "layers of the retrieval encoder"),
    real("retro-encoder-hidden-dropout", "0.1", later, "dropout of the retrieval encoder"),
    real("retro-encoder-attention-dropout", "0.1", later,
         "attention dropout of the retrieval encoder"),
    integer("retro-num-neighbors", "2", later, "neighbours per chunk"),
    integer("retro-num-retrieved-chunks", "2", later, "chunks taken from each neighbour"),
    real("retro-attention-gate", "1", later, "factor on the retrieved attention"),
    flag_off("retro-no-verify-neighbor-count", "retro_verify_neighbor_count", later,
             "accept samples with missing neighbours"),
};

}  // namespace mpitron::config::rows
