#include "plan/search/goodput.h"

#include <cmath>

namespace mpitron::plan {

double best_interval(const FailureModel& model) {
  const double c = model.checkpoint, m = model.between_failures;
  return std::sqrt(2 * c * m) * (1 + std::sqrt(c / (2 * m)) / 3 + c / (18 * m)) - c;
}

double goodput(const FailureModel& model, double interval) {
  const double m = model.between_failures;
  return interval /
         (m * std::exp(model.restart / m) * std::expm1((interval + model.checkpoint) / m));
}

}  // namespace mpitron::plan
