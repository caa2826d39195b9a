#pragma once
#include <string>
#include <vector>

#include "cli/show/plan_request.h"
#include "plan/search/search.h"

namespace mpitron::cli {

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

/// The layouts for programs.
std::string layouts_json(const PlanRequest& request, const std::vector<PlannedLayout>& layouts);

}  // namespace mpitron::cli
