#include "plan/model/flops_formula.h"

#include <array>

#include "train/model/flops.h"
#include "utils/error.h"

// The ways in which publications count a step's operations, by which their TFLOP/s and MFU are
// turned into seconds.

namespace mpitron::plan {
namespace {

struct NamedFormula {
  const char* name;
  FlopsFormula formula;
};
constexpr std::array<NamedFormula, 4> kFormulas = {{{"megatron", FlopsFormula::megatron},
                                                    {"full", FlopsFormula::full},
                                                    {"hardware", FlopsFormula::hardware},
                                                    {"6N", FlopsFormula::six_n}}};

}  // namespace

FlopsFormula flops_formula(const std::string& name) {
  for (const NamedFormula& formula : kFormulas) {
    if (name == formula.name) {
      return formula.formula;
    }
  }
  throw_usage("--flops-formula {}: one of megatron, full, hardware, 6N is expected", name);
}

const char* to_string(FlopsFormula formula) {
  return kFormulas[static_cast<std::size_t>(formula)].name;
}

/// Returns the operations of a step. `hardware` counts the forward pass twice, as with full
/// recomputation; `megatron` is the formula of Megatron's training log.
double step_flops(const Job& job, FlopsFormula formula) {
  const double tokens = job.sequence() * job.global_batch();
  switch (formula) {
    case FlopsFormula::megatron:
      return train::flops_per_iteration(job.run.model, job.run.training.global_batch_size);
    case FlopsFormula::six_n:
      return 6 * job.active_weights() * tokens;
    case FlopsFormula::full:
    case FlopsFormula::hardware:
      break;
  }
  // Operations of a token without the output matrix, which is not recomputed.
  const double forward = 2 * (job.work->active_weights() + job.work->full_scores(job.sequence()));
  const double passes = formula == FlopsFormula::hardware ? 4 : 3;
  return tokens * (passes * forward + 3 * 2 * job.vocabulary() * job.hidden());
}

}  // namespace mpitron::plan
