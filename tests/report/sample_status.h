#pragma once

#include "report/status_text.h"

// A run half done, as its folder tells it.

namespace mpitron::report {

inline RunFolder sample_run() {
  RunFolder run;
  run.name = "gpt";
  run.description = {
      .world_size = 4, .train_iters = 1000, .seq_length = 8, .flops_per_sample = 8e8};
  run.metrics = MetricsLog(
      R"({"step":249,"lm loss":4,"iteration-time":0.5,"tokens-per-second":12345.6,"grad-norm":0.5}
{"step":250,"lm loss":3,"iteration-time":0.5,"tokens-per-second":12345.6,"learning-rate":0.001}
{"step":250,"busy-seconds-min":0.2,"busy-seconds-median":0.2,"busy-seconds-max":0.3}
{"step":250,"slowest-rank":3}
{"step":250,"memory-mib-max":1536}
{"step":250,"lm loss validation":3.25}
)");
  return run;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace mpitron::report
