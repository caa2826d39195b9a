#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options of retrieval models, the groups `biencoder` and `retro` of Megatron's arguments.py: known
// by name, not there yet.
inline constexpr std::array kBiencoder = {
    integer("ict-head-size", none, later, "width of the inverse cloze task head"),
    integer("biencoder-projection-dim", "0", later,
            "width of the tower projection; 0 uses the first token's state"),
    flag("biencoder-shared-query-context-model", later, "one tower for queries and passages"),
    text("ict-load", none, later, "checkpoint of the towers"),
    text("bert-load", none, later, "BERT weights to start the towers from"),
    text("titles-data-path", none, later, "data set with the titles"),
    real("query-in-block-prob", "0.1", later, "probability that the query stays in its block"),
    flag("use-one-sent-docs", later, "accept documents of one sentence"),
    text("evidence-data-path", none, later, "table with id, text and title of the evidence"),
    integer("retriever-report-topk-accuracies", "", later, "values of k for the logged accuracies")
        .list(),
    flag("retriever-score-scaling", later, "divide scores by the root of the hidden size"),
    text("block-data-path", none, later, "store of the blocks"),
    text("embedding-path", none, later, "store of the embeddings"),
    integer("indexer-batch-size", "128", later, "passages per batch when embedding the evidence"),
    integer("indexer-log-interval", "1000", later,
            "batches between two messages when embedding the evidence"),
};

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
