#include "plan/search/layout_flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/model/layout.h"

// A layout as options of mpitron: the answer of `mpitron plan` as a command line or a YAML file
// that trains in it.

namespace mpitron::plan {
namespace {

/// Options that a layout determines: they leave the user's command line, and come back as the
/// layout has them.
constexpr std::array<std::string_view, 22> kLayoutOptions = {
    "tensor-model-parallel-size",
    "context-parallel-size",
    "pipeline-model-parallel-size",
    "num-virtual-stages-per-pipeline-rank",
    "num-layers-per-virtual-pipeline-stage",
    "pipeline-model-parallel-layout",
    "decoder-first-pipeline-num-layers",
    "decoder-last-pipeline-num-layers",
    "account-for-embedding-in-pipeline-split",
    "account-for-loss-in-pipeline-split",
    "expert-model-parallel-size",
    "expert-tensor-parallel-size",
    "recompute-modules",
    "sequence-parallel",
    "micro-batch-size",
    "use-distributed-optimizer",
    "use-megatron-fsdp",
    "data-parallel-sharding-strategy",
    "recompute-granularity",
    "recompute-method",
    "recompute-num-layers",
    "world-size"};

std::string option_name(const std::string& word) {
  std::string name = word.substr(2, word.find('=') - 2);
  std::ranges::replace(name, '_', '-');
  return name;
}

bool is_option(const std::string& word) {
  return word.starts_with("--");
}

void add_recompute(const config::RecomputeConfig& recompute, std::vector<LayoutFlag>& flags) {
  switch (recompute.recompute_granularity) {
    case config::RecomputeGranularity::none:
      return;
    case config::RecomputeGranularity::full:
      flags.push_back({"recompute-granularity", "full"});
      flags.push_back({"recompute-method", "block"});
      flags.push_back({"recompute-num-layers", std::to_string(recompute.recompute_num_layers)});
      return;
    case config::RecomputeGranularity::selective:
      flags.push_back({"recompute-granularity", "selective"});
      flags.push_back({"recompute-modules", module_names(recompute, " ")});
      return;
  }
}

}  // namespace

std::vector<LayoutFlag> layout_flags(const config::RunConfig& run) {
  const config::ParallelConfig& p = run.parallel;
  std::vector<LayoutFlag> flags;
  const auto add = [&](bool wanted, const char* name, const std::string& value = "") {
    if (wanted) {
      flags.push_back({name, value});
    }
  };
  const auto add_size = [&](const char* name, Index value, Index without) {
    add(value != without, name, std::to_string(value));
  };
  add_size("world-size", p.world_size, 0);
  add_size("micro-batch-size", run.training.micro_batch_size, 0);
  add_size("tensor-model-parallel-size", p.tensor_model_parallel_size, 0);
  add_size("pipeline-model-parallel-size", p.pipeline_model_parallel_size, 0);
  add(p.pipeline_model_parallel_layout.has_value(), "pipeline-model-parallel-layout",
      p.pipeline_model_parallel_layout.value_or(""));
  add_size("num-virtual-stages-per-pipeline-rank",
           p.virtual_pipeline_model_parallel_size.value_or(1), 1);
  add(p.account_for_embedding_in_pipeline_split, "account-for-embedding-in-pipeline-split");
  add(p.account_for_loss_in_pipeline_split, "account-for-loss-in-pipeline-split");
  add_size("context-parallel-size", p.context_parallel_size, 1);
  add_size("expert-model-parallel-size", p.expert_model_parallel_size, 1);
  add(run.model.moe.has_value(), "expert-tensor-parallel-size",
      std::to_string(p.expert_tensor_parallel_size));
  add(p.sequence_parallel, "sequence-parallel");
  const bool sharded = p.sharding_strategy == config::ShardingStrategy::optim_grads_params;
  add(p.sharding_strategy != config::ShardingStrategy::no_shard, "use-distributed-optimizer");
  add(sharded, "use-megatron-fsdp");
  add(sharded, "data-parallel-sharding-strategy", "optim_grads_params");
  add_recompute(run.model, flags);
  return flags;
}

namespace {

/// Words of a list are arguments of their own.
void append_words(const std::string& list, std::vector<std::string>& arguments) {
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(' ', begin), list.size());
    arguments.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

std::vector<std::string> with_layout(const std::vector<std::string>& arguments,
                                     const config::RunConfig& run) {
  std::vector<std::string> result;
  bool skips = false;
  for (const std::string& word : arguments) {
    if (is_option(word)) {
      skips = std::ranges::find(kLayoutOptions, option_name(word)) != kLayoutOptions.end();
    }
    if (!skips) {
      result.push_back(word);
    }
  }
  for (const LayoutFlag& flag : layout_flags(run)) {
    result.push_back("--" + flag.name);
    append_words(flag.value, result);
  }
  return result;
}

std::string to_yaml(const std::vector<std::string>& arguments) {
  std::string text;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const auto equals = word.find('=');
    std::vector<std::string> values;
    if (equals != std::string::npos) {
      values.push_back(word.substr(equals + 1));
    }
    while (i + 1 < arguments.size() && !is_option(arguments[i + 1])) {
      values.push_back(arguments[++i]);
    }
    const std::string name = option_name(word);
    if (name == "world-size") {
      continue;  // that of the launcher
    }
    text += name + ": " +
            (values.empty()       ? "true"
             : values.size() == 1 ? values[0]
                                  : fmt::format("[{}]", fmt::join(values, ", "))) +
            "\n";
  }
  return text;
}

}  // namespace mpitron::plan
