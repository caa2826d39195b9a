#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plan/model/flops_formula.h"
#include "plan/search/search.h"

namespace mpitron::plan {

/// Prices that a user pays, and the tokens to train; what is not given leaves its column out.
struct Prices {
  std::optional<double> gpu_hour;
  std::optional<double> kilowatt_hour;
  double tokens = 1e12;
};

/// Rates of a predicted step.
struct Rates {
  double tokens_per_second = 0;
  double utilization = 0;  // of the 16-bit peak, by the formula named
  double bubble = 0;       // share of the step
  double megawatt_hours = 0;
  double days = 0;  // for Prices::tokens
  std::optional<double> cost;
};
/// Returns the rates of a step; energy is that of the building, at idle power outside of kernels.
Rates rates(const Machine& machine, const Job& job, const StepTime& time, FlopsFormula formula,
            const Prices& prices);

/// A named part of a step.
struct NamedSeconds {
  const char* name;
  double seconds;
};
/// Returns the parts that add up to the step.
std::vector<NamedSeconds> parts_of(const StepTime& time);
/// Returns why `slower` is slower than `faster`: "0.9 % more tensor traffic, ...", the three
/// largest parts first.
std::string difference(const StepTime& faster, const StepTime& slower);

/// A change of the step when a value of the machine is 10 % higher, largest first.
struct Sensitivity {
  std::string key;
  double change = 0;  // of the step, below 0: faster
};
std::vector<Sensitivity> sensitivities(const Machine& machine, const Stack& stack, const Job& job);

/// Distance within which 90 % of measured rows of this kind are predicted, and why.
struct ErrorBar {
  double share = 0;
  std::string why;
};
ErrorBar error_bar(const Machine& machine, const Stack& stack, const Job& job);

}  // namespace mpitron::plan
