#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options of finetuning that only mpitron has.
inline constexpr std::array kFinetuning = {
    text("task", none, works, "what `mpitron finetune` teaches")
        .choose("MNLI QQP RACE CoLA SST-2 MRPC STS-B QNLI RTE WNLI"),
    text("train-data", none, works, "files of the task that are learned; of RACE folders").list(),
    text("valid-data", none, works, "files of the task that are evaluated after every epoch")
        .any_list(),
    integer("epochs", "1", works, "how often the task's data are learned; 0 evaluates only"),
    flag("keep-last", works, "an epoch's last batch counts although it is not whole"),
    text("predictions-path", none, works,
         "JSONL with what the model says of each sample of --valid-data, after every epoch"),
    text("eval-tasks", none, works,
         "TASK=FILE: tasks of `mpitron evaluate` that are measured at every evaluation")
        .list(),
    flag("sft-packing", works,
         "several conversations a sample, which do not see each other; --sft"),
    flag("sft-train-on-prompt", works, "every word of a conversation is learned; --sft"),
    flag("sft-last-turn-only", works, "only the last answer of a conversation is learned; --sft"),
    text("freeze-layers", none, works, "A-B: these layers, from 1 on, keep their weights"),
    flag("freeze-embeddings", works, "the tables of tokens and positions keep their weights"),
    integer("lora-rank", none, works,
            "train low-rank updates of linear layers of this rank, and nothing else"),
    real("lora-alpha", none, works, "their factor is alpha / rank; by default the rank, factor 1"),
    real("lora-dropout", "0", works, "probability of dropout in front of an update"),
    text("lora-target-modules", "all-linear", works,
         "the layers that are updated, as Hugging Face names them (q_proj,v_proj), a regular "
         "expression of whole names, or all-linear"),
    flag("lora-rslora", works, "the factor is alpha / sqrt(rank)"),
    text("lora-rank-pattern", none, works,
         "other ranks of some layers: layers.1.self_attn.q_proj=3"),
    text("lora-alpha-pattern", none, works, "other alphas of some layers"),
    text("load-adapter", none, works,
         "a folder of PEFT (adapter_config.json, adapter_model.safetensors) to start from"),
};

}  // namespace mpitron::config::rows
