#include "plan/search/layout_flags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mpitron::plan {
namespace {

constexpr std::array<std::string_view, 20> kLayoutOptions = {
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

}  // namespace

std::vector<LayoutFlag> layout_flags(const Job& job) {
  const Layout& l = job.layout;
  std::vector<LayoutFlag> flags = {{"world-size", std::to_string(l.gpus)},
                                   {"micro-batch-size", std::to_string(l.micro_batch)},
                                   {"tensor-model-parallel-size", std::to_string(l.tensor)},
                                   {"pipeline-model-parallel-size", std::to_string(l.pipeline)}};
  const auto add = [&](bool wanted, const char* name, const std::string& value = "") {
    if (wanted) {
      flags.push_back({name, value});
    }
  };
  const bool uneven = job.model.layers % l.pipeline != 0;
  add(l.chunks > 1, "num-virtual-stages-per-pipeline-rank", std::to_string(l.chunks));
  add(uneven, "account-for-embedding-in-pipeline-split");
  add(uneven, "account-for-loss-in-pipeline-split");
  add(l.context > 1, "context-parallel-size", std::to_string(l.context));
  add(l.expert > 1, "expert-model-parallel-size", std::to_string(l.expert));
  add(l.sequence_parallel, "sequence-parallel");
  add(l.sharding >= Sharding::optimizer, "use-distributed-optimizer");
  add(l.sharding == Sharding::full, "use-megatron-fsdp");
  add(l.sharding == Sharding::full, "data-parallel-sharding-strategy", "optim_grads_params");
  if (l.recompute == Recompute::full) {
    const double of_a_chunk =
        std::ceil(static_cast<double>(job.model.layers) / (l.pipeline * l.chunks));
    add(true, "recompute-granularity", "full");
    add(true, "recompute-method", "block");
    add(true, "recompute-num-layers",
        std::to_string(static_cast<Index>(std::lround(l.recomputed * of_a_chunk))));
  }
  add(l.recompute == Recompute::selective, "recompute-granularity", "selective");
  return flags;
}

std::vector<std::string> with_layout(const std::vector<std::string>& arguments, const Job& job) {
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
  for (const LayoutFlag& flag : layout_flags(job)) {
    result.push_back("--" + flag.name);
    if (!flag.value.empty()) {
      result.push_back(flag.value);
    }
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
