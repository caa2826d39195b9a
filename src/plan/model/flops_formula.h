#pragma once
#include <string>

#include "plan/model/job.h"

namespace mpitron::plan {

/// Ways in which articles count operations.
enum class FlopsFormula {
  megatron,  // causal attention halved, logits included (Megatron-Core 0.14; train/model/flops.h)
  full,      // attention not halved (llm-foundry)
  hardware,  // `full` with the recomputed forward pass (arXiv:2104.04473, equation 3)
  six_n,     // 6 operations a parameter and token
};
FlopsFormula flops_formula(const std::string& name);  // throws Error(usage)
const char* to_string(FlopsFormula formula);

/// Returns the operations of a step of the whole job.
double step_flops(const Job& job, FlopsFormula formula);

}  // namespace mpitron::plan
