#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/show/plan_commands.h"
#include "plan/model/flops_formula.h"
#include "plan/search/goodput.h"
#include "plan/search/report.h"
#include "plan/search/search.h"

// What `mpitron plan` was asked for, and how its answers are printed; plan_request.cpp,
// plan_layouts.cpp and plan_machine.cpp implement it.

namespace mpitron::cli {

inline constexpr double kGigabyte = 1e9;

/// The command's own options; what is left describes the run.
struct PlanRequest {
  Arguments flags;
  plan::Machine machine;
  plan::Stack stack;
  bool searches = false, json = false, shows_startup = false, replays = false;
  Index top = 10;
  double margin = 0.06;
  std::map<std::string, Index> fixed;  // --fix
  std::optional<std::string> why, save_flags;
  plan::FlopsFormula formula = plan::FlopsFormula::megatron;
  plan::Prices prices;
  std::optional<double> gpu_failure_hours;
  plan::FailureModel failures{.checkpoint = 60, .restart = 600};
};

/// Reads the words behind `mpitron plan` with --machine. Error(usage) names the word that is wrong.
PlanRequest read_plan_request(const Arguments& arguments);

/// Reads sizes of a layout: "tp=4,pp=8". Error(usage) lists the names there are.
std::map<std::string, Index> layout_choices(const std::string& option, const std::string& text);

/// Bytes of a GPU that tensors may take: without its margin and what libraries hold.
double usable_memory(const PlanRequest& request);

/// A layout with the run in it.
struct PlannedLayout {
  plan::Candidate candidate;
  plan::Job job;
};

/// The header of lines of layouts, and one of them: `number` counts from 1.
inline constexpr const char* kLayoutColumns =
    "    tp cp pp vp ep mbs   dp sharding                      recompute      step   MFU  "
    "tokens/s/GPU  memory GB  "
    "bubble   days  MWh";

std::string layout_line(const PlanRequest& request, const PlannedLayout& layout,
                        std::size_t number);

/// Prints what is told of one layout alone: memory, the parts of the step, what it depends on,
/// failures, the start and the program's own memory where they are asked for.
void print_details(const PlanRequest& request, const PlannedLayout& layout);

/// Writes the layouts for programs: sizes, seconds, bytes, and the parts of each step.
std::string layouts_json(const PlanRequest& request, const std::vector<PlannedLayout>& layouts);

}  // namespace mpitron::cli
