// Options of the types of caches and states, declared once for commands with Flags and for
// `mpitron evaluate`, which leaves other words to a training run.
#include "cli/evaluation/cache_types.h"

#include "utils/error.h"

namespace mpitron::cli {
namespace {

using Words = std::vector<std::string>;

Words types_of_caches() {
  Words names;
  for (const kernels::CacheTypeFacts& each : kernels::kCacheTypes) {
    names.emplace_back(each.name);
  }
  return names;
}

Words types_of_states() {
  Words names = {"auto"};
  for (const DType each : kernels::kStateTypes) {
    names.emplace_back(name_of(each));
  }
  return names;
}

struct Row {
  const char* flag;
  std::string CacheTypes::*word;
  Words (*allowed)();
  const char* help;
};
constexpr Row kRows[] = {
    {"--kv-cache-dtype", &CacheTypes::keys_and_values, types_of_caches,
     "what keys and values are kept in: fp8_e4m3 has 8 bits a number and a scale for each "
     "position and head; auto: the model's type"},
    {"--mamba-inference-conv-states-dtype", &CacheTypes::conv, types_of_states,
     "what the convolutions of Mamba and delta-net layers keep their last inputs in; auto: the "
     "model's type"},
    {"--mamba-inference-ssm-states-dtype", &CacheTypes::recurrence, types_of_states,
     "what the states of Mamba and delta-net layers are kept in, rounded behind each token; auto: "
     "fp32"}};

void refuse_rows(const CacheTypes& types, std::span<const Row> rows, const std::string& reason) {
  for (const Row& row : rows) {
    if (const std::string& word = types.*row.word; word != "auto" && !reason.empty()) {
      throw_usage("{} {}: {}; leave it out", row.flag, word, reason);
    }
  }
}

}  // namespace

void CacheTypes::declare(Flags& flags) {
  for (const Row& row : kRows) {
    flags.option(row.flag, this->*row.word, row.help);
    flags.choices(row.allowed());
  }
}

CacheTypes CacheTypes::take(Arguments& words) {
  CacheTypes types;
  for (const Row& row : kRows) {
    if (const auto given = take_value(words, row.flag)) {
      types.*row.word = *given;
    }
    if (const std::string mistake = none_of(types.*row.word, row.allowed()); !mistake.empty()) {
      throw_usage("{}: {}", row.flag, mistake);
    }
  }
  return types;
}

std::string CacheTypes::words() const {
  return fmt::format("{} {} {}", keys_and_values, conv, recurrence);
}

void CacheTypes::refuse(const std::string& reason) const {
  refuse_rows(*this, kRows, reason);
}

void CacheTypes::refuse_states(const std::string& reason) const {
  refuse_rows(*this, std::span(kRows).subspan<1>(), reason);
}

}  // namespace mpitron::cli
