#include "plan/machine/parameter_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "config/values/finding.h"
#include "plan/machine/exit_codes.h"

// The keys of machine and stack files: member, plausible range, and how far a fitted value may lie
// from a plain one. Ranges catch slips of units (GB for bytes, percent for shares).

namespace mpitron::plan {
namespace {

constexpr bool kRequired = true;

/// Values are in bytes, seconds, and operations or bytes a second; shares are of the peak.
constexpr ParameterKey<Machine> kMachine[] = {
    {"gpu.peak.bf16", &Machine::peak_16, 1e9, 1e17, 0.3, kRequired},
    {"gpu.peak.fp8", &Machine::peak_8, 1e9, 1e17, 0.3},
    {"gpu.peak.fp4", &Machine::peak_4, 1e9, 1e17, 0.3},
    {"gpu.memory", &Machine::memory, 1e8, 1e13, 0.3, kRequired},
    {"gpu.memory-fixed", &Machine::fixed_memory, 0, 1e11, 0.3},
    {"gpu.memory-bandwidth", &Machine::memory_bandwidth, 1e8, 1e14, 0.3, kRequired},
    {"gpu.sms", &Machine::multiprocessors, 1, 1e4, 0.3, kRequired},
    {"gpu.power-idle", &Machine::power_idle, 0, 1e4, 0.3},
    {"gpu.power-max", &Machine::power_max, 0, 1e4, 0.3},
    {"node.gpus", &Machine::node_gpus, 1, 1024, 0.3, kRequired},
    {"node.link-bandwidth", &Machine::link_bandwidth, 1e7, 1e13, 0.3, kRequired},
    {"node.link-latency", &Machine::link_latency, 1e-8, 1e-2, 0.3, kRequired},
    {"network.bandwidth-per-gpu", &Machine::network_bandwidth, 1e6, 1e13, 0.3, kRequired},
    {"network.latency", &Machine::network_latency, 1e-8, 1e-1, 0.3, kRequired},
    {"products.bf16", &Machine::share_16, 0.02, 1, 0.1, kRequired},
    {"products.fp8", &Machine::share_fp8, 0.02, 1, 0.1},
    {"products.mxfp8", &Machine::share_mxfp8, 0.02, 1, 0.1},
    {"products.nvfp4", &Machine::share_nvfp4, 0.02, 1, 0.15},
    {"products.k-half", &Machine::half_depth, 0, 2000, 0.5, kRequired},
    {"memory.share", &Machine::memory_share, 0.05, 1, 0.15, kRequired},
    {"attention.forward", &Machine::attention_forward, 0.01, 1, 0.3, kRequired},
    {"attention.backward", &Machine::attention_backward, 0.01, 1, 0.3, kRequired},
    {"attention.half-length", &Machine::attention_half, 0, 20000, 0.7},
    {"link.share", &Machine::link_share, 0.02, 1, 0.25, kRequired},
    {"network.share", &Machine::network_share, 0.02, 1, 0.25, kRequired},
    {"network.jitter", &Machine::jitter, 0, 0.1, 0.7},
    {"storage.read", &Machine::storage_read, 1e6, 1e14, 0.5},
    {"storage.open-seconds", &Machine::open_seconds, 1e-6, 10, 0.5},
    {"storage.metadata-rate", &Machine::metadata_rate, 1, 1e9, 0.5},
    {"start.task-seconds", &Machine::task_seconds, 0, 60, 0.5},
    {"start.communicator-seconds", &Machine::communicator_seconds, 0, 100, 0.5},
    {"start.communicator-doubling", &Machine::communicator_doubling, 0, 100, 0.5},
    {"start.communicator-memory", &Machine::communicator_memory, 0, 1e11, 0.5},
    {"start.warm-up-seconds", &Machine::warm_up_seconds, 0, 1e4, 0.5},
};

constexpr ParameterKey<Stack> kStack[] = {
    {"elementwise", &Stack::elementwise, 0.1, 10, 0.35},
    {"per-step", &Stack::per_step, 0, 20, 0.7},
    {"per-microbatch", &Stack::per_microbatch, 0, 2, 0.7},
    {"launch", &Stack::launch, 0, 0.01, 0.6},
    {"waits-for-kernels", &Stack::waits_for_kernels, 0, 1, 0.3},
    {"attention", &Stack::attention, 0.1, 10, 0.25},
    {"products", &Stack::products, 0.3, 5, 0.08},
    {"tensor-overlap", &Stack::tensor_overlap, 0, 1, 1},
    {"backward-tensor-hidden", &Stack::backward_tensor_hidden, 0, 1, 1},
    {"context-overlap", &Stack::context_overlap, 0, 1, 1},
    {"data-overlap", &Stack::data_overlap, 0, 1, 1},
    {"full-sharding-overlap", &Stack::full_sharding_overlap, 0, 1, 1},
    {"sharding-traffic", &Stack::sharding_traffic, 0.3, 20, 0.4},
    {"pipeline-overlap", &Stack::pipeline_overlap, 0, 1, 1},
    {"expert-overlap", &Stack::expert_overlap, 0, 1, 1},
    {"expert-exchange", &Stack::expert_exchange, 0, 0.1, 0.7},
    {"expert-bytes", &Stack::expert_bytes, 1, 8, 0.3},
    {"grouped", &Stack::grouped, 0.3, 10, 0.3},
    {"activation", &Stack::activation, 1, 40, 0.5},
    {"quantise", &Stack::quantise, 0, 40, 0.5},
    {"unfused-attention", &Stack::unfused_attention, 0, 1, 0.3},
    {"odd-heads", &Stack::odd_heads, 1, 10, 0.5},
    {"exchange-share", &Stack::exchange_share, 0.05, 2, 0.4},
    {"release", &Stack::release, 0.5, 2, 0.1},
};

/// Reads a number; Error(kBadParameterFile) names the file, the key and the plausible range.
template <class T>
double value_of(const ParameterKey<T>& key, const WrittenValue& written) {
  char* end = nullptr;
  const double value = std::strtod(written.text.c_str(), &end);
  if (end == written.text.c_str() || *end != '\0' || !std::isfinite(value)) {
    throw Error(kBadParameterFile, fmt::format("{}: {}: a number is expected, not '{}'",
                                               written.path, key.key, written.text));
  }
  if (value < key.least || value > key.most) {
    throw Error(kBadParameterFile,
                fmt::format("{}: {} {}: from {:g} to {:g} is plausible", written.path, key.key,
                            written.text, key.least, key.most));
  }
  return value;
}

/// Throws an Error that names the nearest key where a value has one that is not known.
template <class T>
void check_known(const WrittenValues& values, std::span<const ParameterKey<T>> keys) {
  std::vector<std::string_view> known;
  std::ranges::transform(keys, std::back_inserter(known), &ParameterKey<T>::key);
  for (const auto& [key, written] : values) {
    if (std::ranges::find(known, key) == known.end()) {
      throw Error(kBadParameterFile, fmt::format("{}: no key {} is known{}", written.path, key,
                                                 config::did_you_mean(key, known)));
    }
  }
}

/// Makes a machine or a stack of the values of one name. Keys that are not required keep the
/// member's default; unknown ones are errors.
template <class T>
T make(const std::string& name, const WrittenValues& values,
       std::span<const ParameterKey<T>> keys) {
  T result;
  result.name = name;
  for (const ParameterKey<T>& key : keys) {
    const auto at = values.find(key.key);
    if (at != values.end()) {
      result.*key.field = value_of(key, at->second);
    } else if (key.required) {
      const std::string path = values.empty() ? name : values.begin()->second.path;
      throw Error(kBadParameterFile, fmt::format("{}: {} is missing", path, key.key));
    }
  }
  check_known(values, keys);
  return result;
}

}  // namespace

std::span<const ParameterKey<Machine>> machine_keys() {
  return kMachine;
}
std::span<const ParameterKey<Stack>> stack_keys() {
  return kStack;
}

Machine make_machine(const std::string& name, const WrittenValues& values) {
  return make<Machine>(name, values, kMachine);
}
Stack make_stack(const std::string& name, const WrittenValues& values) {
  return make<Stack>(name, values, kStack);
}

double Machine::product_rate(Precision precision) const {
  const double rate = precision == Precision::bf16    ? peak_16 * share_16
                      : precision == Precision::fp8   ? peak_8 * share_fp8
                      : precision == Precision::mxfp8 ? peak_8 * share_mxfp8
                                                      : peak_4 * share_nvfp4;
  if (rate <= 0) {
    throw_usage(
        "the machine {} has no products in {}: neither a data sheet (gpu.peak) nor a measured run "
        "(products) tells their rate",
        name, to_string(precision));
  }
  return rate;
}

}  // namespace mpitron::plan
