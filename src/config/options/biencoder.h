#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

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

}  // namespace mpitron::config::rows
