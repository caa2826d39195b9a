// Writes the service's counters in Prometheus' text format 0.0.4. Every row has its help and type;
// times are histograms in seconds whose buckets are cumulative, as the format wants.
#include "inference/protocol/metrics.h"

#include <algorithm>

#include <fmt/format.h>

#include "inference/protocol/served_model.h"

namespace mpitron::inference {
namespace {

std::string head(const char* name, const char* type, const char* help) {
  return fmt::format("# HELP mpitron_{0} {2}\n# TYPE mpitron_{0} {1}\n", name, type, help);
}

std::string one(const char* name, const char* type, const char* help, Index value) {
  return head(name, type, help) + fmt::format("mpitron_{} {}\n", name, value);
}

std::string times(const char* name, const char* help, const Histogram& histogram) {
  std::string text = head(name, "histogram", help);
  Index below = 0;
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    below += histogram.counts[i];
    text += fmt::format("mpitron_{}_bucket{{le=\"{}\"}} {}\n", name, Histogram::kBounds[i], below);
  }
  below += histogram.counts.back();
  return text + fmt::format(
                    "mpitron_{0}_bucket{{le=\"+Inf\"}} {1}\nmpitron_{0}_sum {2}\n"
                    "mpitron_{0}_count {1}\n",
                    name, below, histogram.sum);
}

/// Lists adapters and the requests of each. Names need no escapes (is_adapter_name).
std::string of_adapters(const ServedAdapters& adapters) {
  const std::vector<ServedAdapter> all = adapters.all();
  std::string text =
      one("adapters", "gauge", "adapters that requests may name", static_cast<Index>(all.size()));
  text += all.empty() ? "" : head("adapter_requests_total", "counter", "requests by adapter");
  for (const ServedAdapter& each : all) {
    text += fmt::format("mpitron_adapter_requests_total{{adapter=\"{}\"}} {}\n", each.name,
                        each.requests);
  }
  return text;
}

}  // namespace

void Histogram::add(std::chrono::duration<double> time) {
  const auto bound = std::ranges::lower_bound(kBounds, time.count());
  ++counts[static_cast<std::size_t>(bound - kBounds.begin())];
  sum += time.count();
}

std::string metrics(const ServedModel& model) {
  const ServiceStats stats = model.service.stats();
  const Latencies& took = stats.latencies;
  return one("requests_running", "gauge", "answers in the batch", stats.running) +
         one("requests_waiting", "gauge", "answers that wait for a place", stats.waiting) +
         one("requests_preempted_total", "counter", "answers that gave their blocks back",
             stats.preemptions) +
         one("prompt_tokens_total", "counter", "tokens of prompts", stats.prompt_tokens) +
         one("generation_tokens_total", "counter", "tokens of answers", stats.generated_tokens) +
         one("cached_tokens_total", "counter", "tokens of prompts found in the cache",
             stats.cached_tokens) +
         one("requests_finished_total", "counter", "requests answered", stats.finished_groups) +
         one("requests_cancelled_total", "counter", "requests whose client left",
             stats.cancelled_groups) +
         one("cache_blocks", "gauge", "blocks of the cache", stats.blocks) +
         one("cache_blocks_free", "gauge", "blocks that nobody uses", stats.blocks_free) +
         one("kept_states", "gauge", "beginnings of texts whose states are kept",
             stats.kept_states) +
         one("kept_states_bytes", "gauge", "bytes that they take", stats.kept_state_bytes) +
         one("kept_states_used_total", "counter", "answers that began at one of them",
             stats.kept_state_uses) +
         of_adapters(*model.adapters) +
         times("queue_seconds", "from a request to the first step with a part of it", took.queue) +
         times("first_token_seconds", "from a request to its first token", took.first_token) +
         times("between_tokens_seconds", "between tokens of an answer", took.between_tokens) +
         times("request_seconds", "from a request to the end of its answer", took.whole);
}

}  // namespace mpitron::inference
