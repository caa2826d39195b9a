#pragma once
#include <array>
#include <chrono>
#include <string>

#include "utils/numbers/shape.h"

namespace mpitron::inference {

struct ServedModel;

/// Counts times by upper bounds in seconds, as Prometheus does.
struct Histogram {
  static constexpr std::array kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                         0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0};
  std::array<Index, kBounds.size() + 1>
      counts{};    // of times up to a bound and above the one before
  double sum = 0;  // seconds

  void add(std::chrono::duration<double> time);
};

/// Times of answers. Each is counted when it has passed, so that answers under way are not in
/// `whole`.
struct Latencies {
  Histogram queue;           // from the request to the first step with a part of it
  Histogram first_token;     // from the request
  Histogram between_tokens;  // of an answer, by the steps that brought some
  Histogram whole;           // from the request to the answer's end
};

/// Returns the body of /metrics in Prometheus' text format.
std::string metrics(const ServedModel& model);

}  // namespace mpitron::inference
