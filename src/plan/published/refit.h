#pragma once
#include <functional>
#include <span>
#include <vector>

#include "plan/machine/library.h"
#include "plan/published/published_table.h"

namespace mpitron::plan {

/// What a fit has found.
struct FitResult {
  std::size_t parameters = 0;
  std::size_t rows = 0;
  double loss_before = 0;
  double loss_after = 0;
  std::vector<std::string> undetermined;  // parameters that no row depends on: left as they were
};

/// Changes the fitted values of the library so that steps of these rows are told best: coordinate
/// search on logarithms of values, over the mean of capped logarithmic errors, with a weak pull
/// towards the values it starts from.
FitResult refit(Library& library, const std::vector<PublishedRow>& rows, int rounds = 12);

}  // namespace mpitron::plan
