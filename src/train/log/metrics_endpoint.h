#pragma once
#include <mutex>
#include <optional>
#include <string>

#include "io/logs/http_server.h"
#include "utils/numbers/shape.h"
#include "utils/timer.h"

namespace mpitron::train {

/// A finished iteration, as monitoring sees it.
struct LiveFigures {
  Index iteration = 0;
  Index train_iters = 0;
  Index consumed_samples = 0;
  Index consumed_tokens = 0;
  double seconds = 0;  // of the iteration
  double tokens_per_second = 0;
  double tflops_per_rank = 0;
  double loss = 0;
  double grad_norm = 0;
  double learning_rate = 0;
  double loss_scale = 1;
  bool skipped = false;  // no update was made
  Index resident_bytes = 0;
};

/// Answers monitoring: /metrics and /healthz. Any thread may ask.
class LiveMetrics {
 public:
  /// Stays healthy while an iteration, or the start, was not longer ago.
  explicit LiveMetrics(double patience_seconds) : patience_(patience_seconds) {}

  void finished(const LiveFigures& figures, double now);
  void validated(double loss);
  /// `now`: seconds since the start, by any clock that `finished` uses too.
  io::HttpAnswer answer(const std::string& path, double now) const;

 private:
  io::HttpAnswer metrics() const;
  io::HttpAnswer health(double now) const;

  const double patience_;
  mutable std::mutex mutex_;
  LiveFigures figures_;
  std::optional<double> validation_;
  Index skipped_ = 0;
  double last_ = 0;
};

/// Serves LiveMetrics behind a port (--metrics-port, --metrics-address).
class MetricsEndpoint {
 public:
  /// Error(environment) where the port cannot be had.
  MetricsEndpoint(const std::string& address, Index port, double patience_seconds);

  int port() const { return server_.port(); }
  void finished(const LiveFigures& figures) { live_.finished(figures, clock_.seconds()); }
  void validated(double loss) { live_.validated(loss); }

 private:
  Timer clock_;
  LiveMetrics live_;
  io::HttpServer server_;  // last: it asks the others
};

}  // namespace mpitron::train
