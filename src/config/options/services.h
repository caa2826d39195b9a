#pragma once
#include <array>

#include "config/options/option.h"

namespace mpitron::config::rows {

// Small groups of Megatron's arguments.py: what watches a run, injects faults or names services.
// Internal services and packages of other frameworks are told about or refused.
inline constexpr std::array kAutoresume = {
    flag("adlr-autoresume", works,
         "save and end with exit code 85 when the file REQUEUE is made in the folder of --save"),
    integer("adlr-autoresume-interval", "1000", works, "iterations between two looks for it"),
};

inline constexpr std::array kHeterogeneousArchitecture = {
    text("heterogeneous-layers-config-path", none, later, "JSON file that describes each layer"),
    text("heterogeneous-layers-config-encoded-json", none, later, "the same as text"),
};

inline constexpr std::array kStraggler = {
    flag("log-straggler", later, "compare the speed of all ranks"),
    flag("disable-straggler-on-startup", later, "begin without that comparison"),
    integer("straggler-ctrlr-port", "65535", later, "port that switches that comparison"),
    integer("straggler-minmax-count", "1", later, "fastest and slowest ranks to list"),
};

inline constexpr std::array kWorkloadInspector = {
    flag("run-workload-inspector-server", refused, "package of another framework"),
};

inline constexpr std::array kOneLogger = {
    flag_off("no-one-logger", "enable_one_logger", unneeded, "internal service"),
    text("one-logger-project", "megatron-lm", unneeded, "internal service"),
    text("one-logger-run-name", none, unneeded, "internal service"),
    flag("one-logger-async", unneeded, "internal service"),
    text("app-tag-run-name", none, unneeded, "internal service"),
    text("app-tag-run-version", "0.0.0", unneeded, "internal service"),
};

inline constexpr std::array kConfigLogger = {
    text("config-logger-dir", "", later, "folder for a dump of every configuration object"),
};

inline constexpr std::array kRerunEngine = {
    integer("error-injection-rate", "0", works,
            "reject one of n iterations' results on purpose; 0: none"),
    text("error-injection-type", "transient_error", works,
         "what the reruns of such an iteration find")
        .choose("correct_result transient_error persistent_error"),
    text("rerun-mode", "validate_results", works,
         "compute again: nothing, iterations whose results are rejected, or all, to compare")
        .choose("disabled validate_results report_stats"),
};

inline constexpr std::array kMsc = {
    flag_off("disable-msc", "enable_msc", neutral, "object storage client of another framework"),
};

inline constexpr std::array kKitchen = {
    text("kitchen-config-file", none, refused, "quantisation package of another framework"),
    integer("kitchen-recipe-number", none, refused, "quantisation package of another framework"),
};

inline constexpr std::array kSft = {
    flag("sft", works, "train on conversations, no loss on prompts"),
    text("sft-tokenizer-prompt-format", "nemotron-h-aligned", works,
         "how a conversation becomes text"),
};

}  // namespace mpitron::config::rows
