// Answers Prometheus and health checks from figures that the training thread leaves behind a lock,
// which nobody holds longer than it takes to copy or to print them.
#include "train/log/metrics_endpoint.h"

#include <vector>

#include <fmt/format.h>

#include "io/logs/prometheus_text.h"

namespace mpitron::train {

void LiveMetrics::finished(const LiveFigures& figures, double now) {
  const std::lock_guard lock(mutex_);
  figures_ = figures;
  skipped_ += figures.skipped ? 1 : 0;
  last_ = now;
}

void LiveMetrics::validated(double loss) {
  const std::lock_guard lock(mutex_);
  validation_ = loss;
}

/// /metrics in Prometheus's text format, /healthz with 503 where nothing has moved for long.
io::HttpAnswer LiveMetrics::answer(const std::string& path, double now) const {
  const std::lock_guard lock(mutex_);
  if (path == "/metrics") {
    return metrics();
  }
  if (path == "/healthz") {
    return health(now);
  }
  return {.status = 404, .body = "there are /metrics and /healthz\n"};
}

/// Writes the figures in Prometheus' text format.
io::HttpAnswer LiveMetrics::metrics() const {
  const auto real = [](Index value) { return static_cast<double>(value); };
  const LiveFigures& f = figures_;
  std::vector<io::PrometheusMetric> metrics = {
      {"megatron_training_iteration", "iterations finished", real(f.iteration)},
      {"megatron_training_train_iters", "iterations wanted", real(f.train_iters)},
      {"megatron_training_consumed_samples_total", "samples trained on", real(f.consumed_samples),
       true},
      {"megatron_training_consumed_tokens_total", "tokens trained on", real(f.consumed_tokens),
       true},
      {"megatron_training_skipped_iters_total", "iterations without an update, since the start",
       real(skipped_), true},
      {"megatron_training_loss", "loss of the last iteration", f.loss},
      {"megatron_training_grad_norm", "gradient norm of the last iteration", f.grad_norm},
      {"megatron_training_learning_rate", "learning rate", f.learning_rate},
      {"megatron_training_loss_scale", "factor of the loss against underflow", f.loss_scale},
      {"megatron_training_step_duration_ms", "duration of the last iteration", f.seconds * 1e3},
      {"megatron_training_tokens_per_sec", "tokens per second, all ranks", f.tokens_per_second},
      {"megatron_training_throughput_tflops", "TFLOP/s of a rank", f.tflops_per_rank},
      {"megatron_training_memory_resident_bytes", "host memory of rank 0", real(f.resident_bytes)}};
  if (validation_) {
    metrics.push_back(
        {"megatron_training_validation_loss", "loss of the last validation", *validation_});
  }
  return {.type = io::kPrometheusType, .body = io::prometheus_text(metrics)};
}

/// Answers 503 where no iteration has ended within the patience, and leaves the process alone.
io::HttpAnswer LiveMetrics::health(double now) const {
  const double silent = now - last_;
  const bool well = silent <= patience_;
  return {.status = well ? 200 : 503,
          .body = fmt::format("{}: iteration {} of {}, the last one ended {:.0f} s ago\n",
                              well ? "healthy" : "unhealthy", figures_.iteration,
                              figures_.train_iters, silent)};
}

MetricsEndpoint::MetricsEndpoint(const std::string& address, Index port, double patience_seconds)
    : live_(patience_seconds),
      server_(address, static_cast<int>(port),
              [this](const std::string& path) { return live_.answer(path, clock_.seconds()); }) {}

}  // namespace mpitron::train
