#pragma once

#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Options that only mpitron has.
inline constexpr std::array kOwn = {
    text("model", "gpt", works, "what is trained; pretrain-bert and its like set it")
        .choose("gpt bert t5 mamba vit vlm"),
    flag(
        "allow-random-init", works,
        "start from random weights if --load has nothing to load, instead of ending with an error"),
    flag("print-all-arguments", works,
         "print every option at the start, not only those that have not their default values"),
    flag("accept-changes", works,
         "go on from a checkpoint with options that give its weights another function"),
    integer("save-keep-last", none, works,
            "keep only the newest checkpoints, so many; --save-retain-interval keeps more"),
    integer("save-keep-optim-last", none, works,
            "keep the optimizer's state only in the newest checkpoints, so many"),
    flag("save-file-per-writer", works,
         "each rank writes a file of its own, and one small file shows them as one checkpoint"),
    real("save-staging-gib", "2", works,
         "host memory of each rank in which --async-save keeps what is being written"),
    flag("verify-resume", works,
         "read every checkpoint back after it was saved and compare it bit for bit"),
    integer("world-size", none, works, "ranks to check a layout for; a training run knows its own"),
    integer("ranks-per-node", none, works, "ranks of a machine, for check and job write"),
    text("pipeline-schedule", none, works,
         "order of a stage's passes; zero-bubble puts weight gradients where a stage would wait")
        .choose("1f1b interleaved zero-bubble"),
    text("device", "auto", works,
         "where training runs; auto: a GPU if there is one; reference is slow and plain")
        .choose("auto host cuda reference"),
    text("tuning-file", none, works,
         "kernels and algorithms that this GPU takes; what the file lacks is measured and added"),
    text("attention-kernel", "auto", works,
         "GPU: run this attention kernel wherever it can run, where another one fails")
        .choose("auto cudnn wgmma mma"),
    text("matmul-kernel", "auto", works,
         "GPU: multiply by cuBLASLt alone, or by our own mma kernel wherever it can")
        .choose("auto cublaslt mma"),
    flag("device-synchronize", works,
         "wait for every kernel, so that a failure names its kernel and tensors; slow"),
    integer("cpu-offloading-num-layers", "0", works,
            "GPU: the first layers of a chunk keep activations in host memory, so many"),
    text("profile-dir", none, works,
         "where --profile writes; by default profile/ below --tensorboard-dir, or here"),
    integer("metrics-port", none, works,
            "serve /metrics (Prometheus) and /healthz of rank 0 at this port; 0 takes a free one"),
    text("metrics-address", "127.0.0.1", works,
         "where --metrics-port listens; 0.0.0.0 lets other machines ask"),
    text("plan-file", none, works,
         "warn when steps leave the band that `mpitron plan --json` has predicted here"),
    flag("unigram-baseline", works,
         "at the end, print the loss of the best unigram model of the validation tokens"),
    integer("class-token-length", "8", works, "class tokens in front of an image's patches"),
    text("class-head", "mlp", works,
         "what tells classes of images; linear: one layer, as ViTs of Hugging Face have")
        .choose("mlp linear"),
    integer(
        "skip-bad-images", "0", works,
        "replace images that cannot be decoded by the next in the list; an error after so many"),
    integer("dino-out-dim", "65536", works, "outputs of the DINO head"),
    real("drop-path-rate", none, works,
         "share of samples that the last layer's branches leave out (dino: 0.1)"),
    text("sample-prompt", none, works, "at the end, print a text that continues this prompt"),
    integer("sample-tokens", "128", works, "length of that text"),
    real("sample-temperature", "0.8", works, "its temperature; 0 takes the likeliest token"),
};

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
    flag("dpo", works, "learn which of two answers is preferred (direct preferences); --sft"),
    real("dpo-beta", "0.1", works, "how far the model may move from the one that it began as"),
    flag("dpo-length-normalized", works, "means over an answer's tokens in place of sums"),
    real("dpo-label-smoothing", "0", works, "share of pairs whose order is taken to be wrong"),
    text("teacher-output", none, works,
         "write what this model says of the data's samples into an HDF5 file, and end"),
    integer("teacher-top-k", "32", works, "so many of the likeliest words of each token"),
    text("teacher-file", none, works, "learn from such a file of a teacher beside the labels"),
    real("distillation-temperature", "1", works, "divides the logits of teacher and student"),
    real("distillation-weight", "0.5", works, "share of the teacher; the rest is the labels'"),
    text("freeze-layers", none, works, "A-B: these layers, from 1 on, keep their weights"),
    flag("freeze-embeddings", works, "the tables of tokens and positions keep their weights"),
    integer("lora-rank", none, works,
            "train low-rank updates of linear layers of this rank, and nothing else"),
    real("lora-alpha", none, works, "their factor is alpha / rank; by default the rank, factor 1"),
    real("lora-dropout", "0", works, "probability of dropout in front of an update"),
    text("lora-target-modules", "all-linear", works,
         "what is updated: Hugging Face's names, an expression of whole names, or all-linear"),
    flag("lora-rslora", works, "the factor is alpha / sqrt(rank)"),
    text("lora-rank-pattern", none, works,
         "other ranks of some layers: layers.1.self_attn.q_proj=3"),
    text("lora-alpha-pattern", none, works, "other alphas of some layers"),
    text("lora-base-weights", none, works,
         "keep the linear weights of the layers under the updates in 4 bits (QLoRA)")
        .choose("nf4"),
    text("load-adapter", none, works,
         "a folder of PEFT (adapter_config.json, adapter_model.safetensors) to start from"),
};

}  // namespace mpitron::config::rows
