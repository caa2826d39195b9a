#include "config/rules/rule_parts.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mpitron::config {

std::string first_given(const OptionValues& v, std::initializer_list<const char*> dests) {
  for (const char* dest : dests) {
    if (v.given(dest)) {
      const OptionIndex& index = option_index();
      return fmt::format("--{}", index.option(index.slot_of_dest(dest)).name);
    }
  }
  return {};
}

std::string given_among(const OptionValues& v, std::initializer_list<const char*> dests) {
  std::vector<std::string> names;
  for (const char* dest : dests) {
    if (v.given(dest) && v.maybe_integer(dest).value_or(1) != 0) {
      const OptionIndex& index = option_index();
      names.push_back(fmt::format("--{}", index.option(index.slot_of_dest(dest)).name));
    }
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<Violation> given_violation(const std::string& names) {
  return names.empty() ? std::optional<Violation>() : Violation{names + " given", ""};
}

std::optional<Violation> joined(const std::vector<std::string>& bad,
                                const std::vector<std::string>& nearest) {
  return bad.empty() ? std::optional<Violation>()
                     : Violation{fmt::format("{}", fmt::join(bad, "; ")),
                                 fmt::format("{}", fmt::join(nearest, " | "))};
}

bool is_vision(const Facts& f) {
  return f.run.model.family().samples == SampleKind::images;
}

bool freezes(const ModelConfig& m) {
  return m.frozen.embeddings || m.frozen.last_layer >= m.frozen.first_layer;
}

Index chunks_per_rank(const ParallelConfig& p) {
  return std::max<Index>(1, p.virtual_pipeline_model_parallel_size.value_or(1));
}

bool has_uneven_stages(const ParallelConfig& p) {
  return p.decoder_first_pipeline_num_layers || p.decoder_last_pipeline_num_layers;
}

bool counts_ends_as_layers(const ParallelConfig& p) {
  return p.account_for_embedding_in_pipeline_split || p.account_for_loss_in_pipeline_split;
}

}  // namespace mpitron::config
