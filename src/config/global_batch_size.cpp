#include "config/global_batch_size.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "config/values/option_values.h"

// The size of the global batch as a function of consumed samples: constant, a linear ramp
// (--rampup-batch-size) or steps by tokens (--step-batch-size-schedule), and what follows from it:
// iterations of a number of samples and the reverse.

namespace mpitron::config {

namespace {

/// Returns whether all batches from here on are full ones.
bool settled(const TrainingConfig& training, Index consumed_samples) {
  if (!training.batch_size_steps.empty()) {
    return consumed_samples >= training.batch_size_steps.back().samples;
  }
  return !training.rampup_batch_size ||
         training.rampup_batch_size->start >= training.global_batch_size ||
         consumed_samples > training.rampup_batch_size->samples;
}

/// Reads "250B": K, M, B and T are powers of a thousand.
std::optional<double> read_count(std::string_view text) {
  constexpr std::string_view kSuffixes = "KMBT";
  double factor = 1;
  if (!text.empty()) {
    if (const std::size_t suffix = kSuffixes.find(text.back()); suffix != std::string_view::npos) {
      factor = std::pow(1000.0, static_cast<double>(suffix + 1));
      text.remove_suffix(1);
    }
  }
  const std::optional<double> number = read_real(std::string(text));
  return number && *number >= 0 ? std::optional(*number * factor) : std::nullopt;
}

}  // namespace

/// Refuses lists that do not begin at 0 tokens or do not rise: each size must have its range.
std::optional<std::vector<TrainingConfig::BatchSizeStep>> read_batch_size_steps(
    std::string_view text, Index seq_length) {
  std::vector<TrainingConfig::BatchSizeStep> steps;
  std::string words(text);
  std::ranges::replace(words, ',', ' ');
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    const std::size_t colon = word.find(':');
    const auto tokens = read_count(word.substr(0, colon));
    const auto size =
        colon == std::string::npos ? std::nullopt : read_integer(word.substr(colon + 1));
    if (!tokens || !size || *size < 1 || (steps.empty() && *tokens > 0)) {
      return {};
    }
    steps.push_back(
        {static_cast<Index>(std::llround(*tokens)) / std::max<Index>(seq_length, 1), *size});
  }
  const auto falls = [](const auto& a, const auto& b) { return a.samples >= b.samples; };
  return !steps.empty() && std::ranges::adjacent_find(steps, falls) == steps.end()
             ? std::optional(steps)
             : std::nullopt;
}

/// A ramp grows by `increment` every `samples / steps` samples, as the reference's
/// RampupBatchsizeNumMicroBatchesCalculator does.
Index scheduled_batch_size(const TrainingConfig& training, Index consumed_samples) {
  const Index full = training.global_batch_size;
  if (!training.batch_size_steps.empty()) {
    Index size = full;
    for (const TrainingConfig::BatchSizeStep& step : training.batch_size_steps) {
      size = step.samples <= consumed_samples ? step.size : size;
    }
    return size;
  }
  if (!training.rampup_batch_size) {
    return full;
  }
  const TrainingConfig::RampupBatchSize& ramp = *training.rampup_batch_size;
  const Index increments = ramp.increment > 0 ? (full - ramp.start) / ramp.increment : 0;
  if (consumed_samples > ramp.samples || increments <= 0 || ramp.samples <= 0) {
    return full;
  }
  // In this order and in double: the reference divides twice, and the rounding decides at the
  // edges.
  const double samples_per_increment =
      static_cast<double>(ramp.samples) / static_cast<double>(increments);
  const auto steps =
      static_cast<Index>(static_cast<double>(consumed_samples) / samples_per_increment);
  return std::min(full, ramp.start + steps * ramp.increment);
}

Index num_microbatches(const TrainingConfig& training, Index data_parallel_size) {
  return training.global_batch_size / (training.micro_batch_size * data_parallel_size);
}

/// Walks the ramp-up step by step, since its batches are cut to multiples of the replicas, and
/// divides what is left.
Index iterations_for_samples(const TrainingConfig& training, Index train_samples) {
  if (training.global_batch_size <= 0) {
    return 0;
  }
  Index iterations = 0;
  Index consumed = 0;
  while (!settled(training, consumed) && consumed <= train_samples) {
    const Index size = scheduled_batch_size(training, consumed);
    if (size <= 0) {
      return 0;
    }
    consumed += size;
    ++iterations;
  }
  return iterations + std::max<Index>(0, train_samples - consumed) / training.global_batch_size;
}

/// Stops walking where the full batch is reached: from there on all steps are alike.
Index samples_of_iterations(const TrainingConfig& training, Index iterations) {
  Index done = 0;
  Index consumed = 0;
  while (done < iterations && !settled(training, consumed)) {
    const Index size = scheduled_batch_size(training, consumed);
    if (size <= 0) {
      return 0;
    }
    consumed += size;
    ++done;
  }
  return consumed + (iterations - done) * training.global_batch_size;
}

}  // namespace mpitron::config
