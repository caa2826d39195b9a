#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules of the global batch and its ramp.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// A step is whole micro-batches on every data rank.
Result batch_divides(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  const Index unit = t.micro_batch_size * f.run.parallel.data_parallel_size;
  if (unit <= 0 || t.global_batch_size <= 0 || t.decrease_batch_size_if_needed ||
      t.global_batch_size % unit == 0) {
    return {};
  }
  return Violation{fmt::format("{} % ({} * {}) = {}", t.global_batch_size, t.micro_batch_size,
                               f.run.parallel.data_parallel_size, t.global_batch_size % unit),
                   nearest_multiples("global-batch-size", t.global_batch_size, unit)};
}

Result rampup_words(const Facts& f) {
  if (!f.values.has("rampup_batch_size")) {
    return {};
  }
  const std::vector<std::string> words = f.values.words("rampup_batch_size");
  const bool numbers = std::all_of(words.begin(), words.end(), [](const std::string& w) {
    return read_integer(w).value_or(0) > 0;
  });
  if (words.size() == 3 && numbers) {
    return {};
  }
  return Violation{fmt::format("'{}'", fmt::join(words, " ")),
                   "--rampup-batch-size START INCREMENT SAMPLES"};
}

/// The ramp reaches the full batch exactly.
Result rampup_increment(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  if (!t.rampup_batch_size || t.rampup_batch_size->increment <= 0) {
    return {};
  }
  const Index rest = t.global_batch_size - t.rampup_batch_size->start;
  if (rest >= 0 && rest % t.rampup_batch_size->increment == 0) {
    return {};
  }
  return Violation{
      fmt::format("({} - {}) % {} = {}", t.global_batch_size, t.rampup_batch_size->start,
                  t.rampup_batch_size->increment, rest % t.rampup_batch_size->increment),
      ""};
}

Result rampup_divides(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  const Index unit = t.micro_batch_size * f.run.parallel.data_parallel_size;
  if (!t.rampup_batch_size || unit <= 0 || t.decrease_batch_size_if_needed) {
    return {};
  }
  const auto [start, increment, samples] = *t.rampup_batch_size;
  if (start % unit == 0 && increment % unit == 0) {
    return {};
  }
  return Violation{fmt::format("{} % {} = {}, {} % {} = {}", start, unit, start % unit, increment,
                               unit, increment % unit),
                   "--decrease-batch-size-if-needed"};
}

constexpr std::array kBatchRules = std::to_array<Constraint>({
    {"E044", "batch_divides", "global_batch_size % (micro_batch_size * data_parallel_size) == 0",
     "global-batch-size micro-batch-size world-size",
     "Every replica runs the same number of micro batches. --decrease-batch-size-if-needed "
     "rounds down instead.",
     batch_divides},
    {"E045", "rampup_words", "--rampup-batch-size takes three positive integers",
     "rampup-batch-size",
     "The first batch size, the increment, and the samples over which the full batch size is "
     "reached.",
     rampup_words},
    {"E046", "rampup_increment",
     "(global_batch_size - START) % INCREMENT == 0 and START <= global_batch_size",
     "rampup-batch-size global-batch-size", "The ramp must end at the full batch size.",
     rampup_increment},
    {"E047", "rampup_divides",
     "START and INCREMENT are multiples of micro_batch_size * data_parallel_size",
     "rampup-batch-size micro-batch-size",
     "Every batch of the ramp is cut into whole micro batches.", rampup_divides},
});

}  // namespace

std::span<const Constraint> batch_constraints() {
  return kBatchRules;
}

}  // namespace mpitron::config
