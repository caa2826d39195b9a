// Formats the reference's line of an iteration, field by field, and averages what it shows over the
// interval.
#include "train/step/iteration_report.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>

#include <fmt/format.h>

namespace mpitron::train {
namespace {

using WallTime = std::chrono::system_clock::time_point;

std::string local_time(WallTime time) {
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return fmt::format("{:04d}-{:02d}-{:02d} {:02d}:{:02d}:{:02d}", fields.tm_year + 1900,
                     fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min,
                     fields.tm_sec);
}

std::string local_time_with_microseconds(WallTime time) {
  const auto within = time - std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{}.{:06d}", local_time(time),
                     std::chrono::duration_cast<std::chrono::microseconds>(within).count());
}

/// Appends ` text: value |`.
template <class... Values>
void field(std::string& line, fmt::format_string<Values...> text, Values&&... values) {
  line += ' ';
  fmt::format_to(std::back_inserter(line), text, std::forward<Values>(values)...);
  line += " |";
}

void speed_fields(std::string& line, const IterationReport& report) {
  field(line, "elapsed time per iteration (ms): {:.1f}", report.seconds_per_iteration * 1000.0);
  if (report.throughput) {
    field(line, "throughput per GPU (TFLOP/s/GPU): {:.1f}", *report.throughput);
  }
  if (report.energy) {
    field(line, "energy per GPU (J/iter/GPU): {:.1f}", *report.energy);
    field(line, "power per GPU (W/GPU): {:.1f}", *report.energy / report.seconds_per_iteration);
  }
}

void norm_fields(std::string& line, const IterationReport& report) {
  if (report.grad_norm) {
    field(line, "grad norm: {:.3f}", *report.grad_norm);
  }
  if (report.num_zeros) {
    field(line, "num zeros: {:.1f}", *report.num_zeros);  // the reference counts in a float
  }
  if (report.params_norm) {
    field(line, "params norm: {:.3f}", *report.params_norm);
  }
}

}  // namespace

void IntervalAverages::add(std::span<const NamedLoss> losses, bool skipped) {
  if (skipped) {
    ++skipped_;
    nan_ += std::any_of(losses.begin(), losses.end(),
                        [](const NamedLoss& loss) { return !std::isfinite(loss.second); });
    return;
  }
  ++advanced_;
  for (const auto& [name, value] : losses) {
    accumulate(name, value);
  }
}

void IntervalAverages::add_tracked(std::string_view name, double value) {
  accumulate(name, value);
}

void IntervalAverages::accumulate(std::string_view name, double value) {
  auto sum = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& s) { return s.name == name; });
  if (sum == sums_.end()) {
    sum = sums_.insert(sum, Sum{.name = std::string(name)});
  }
  sum->total += static_cast<float>(value);
}

std::vector<NamedLoss> IntervalAverages::averages() const {
  std::vector<NamedLoss> result;
  for (const Sum& sum : sums_) {
    result.emplace_back(sum.name, static_cast<double>(sum.total) /
                                      static_cast<double>(std::max<Index>(1, advanced_)));
  }
  return result;
}

void IntervalAverages::reset() {
  advanced_ = skipped_ = nan_ = 0;
  for (Sum& sum : sums_) {
    sum.total = 0.0F;
  }
}

/// Writes the reference's line with its widths and spaces: what reads the reference's log reads
/// ours.
std::string iteration_line(const IterationReport& report) {
  std::string line = fmt::format(" [{}]", local_time_with_microseconds(report.time));
  field(line, "iteration {:8d}/{:8d}", report.iteration, report.train_iters);
  field(line, "consumed samples: {:12d}", report.consumed_train_samples);
  if (report.skipped_train_samples > 0) {
    field(line, "skipped samples: {:12d}", report.skipped_train_samples);
  }
  speed_fields(line, report);
  field(line, "learning rate: {:.6E}", report.learning_rate);
  if (report.decoupled_learning_rate) {
    field(line, "decoupled learning rate: {:.6E}", *report.decoupled_learning_rate);
  }
  field(line, "global batch size: {:5d}", report.global_batch_size);
  for (const auto& [name, average] : report.losses) {
    if (average > 0.0 || !is_loss(name)) {
      field(line, "{}: {:.6E}", name, average);
    }
  }
  field(line, "loss scale: {:.1f}", report.loss_scale);
  norm_fields(line, report);
  field(line, "number of skipped iterations: {:3d}", report.skipped_iterations);
  field(line, "number of nan iterations: {:3d}", report.nan_iterations);
  return line;
}

std::string validation_name(std::optional<Index> set) {
  return set ? fmt::format("validation-{}", *set) : "validation";
}

std::string validation_lines(std::string_view where, std::span<const NamedLoss> losses,
                             std::optional<Index> set) {
  std::string line = fmt::format(" {} loss at {} | ", validation_name(set), where);
  for (const auto& [name, value] : losses) {
    fmt::format_to(std::back_inserter(line), "{} value: {:.6E} | ", name, value);
    if (is_loss(name)) {
      fmt::format_to(std::back_inserter(line), "{} PPL: {:.6E} | ", name,
                     std::exp(std::min(20.0, value)));
    }
  }
  const std::string rule(line.size() + 1, '-');
  return rule + '\n' + line + '\n' + rule;
}

std::string parameter_count_line(Index tensor_rank, Index pipeline_rank, Index parameters) {
  return fmt::format(
      " > number of parameters on (tensor, pipeline) model parallel rank ({}, {}): {}", tensor_rank,
      pipeline_rank, parameters);
}

std::string datetime_line(std::string_view what, WallTime time) {
  return fmt::format("[{}] datetime: {} ", what, local_time(time));
}

}  // namespace mpitron::train
