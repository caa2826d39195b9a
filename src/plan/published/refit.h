#pragma once
#include <string>
#include <vector>

#include "plan/machine/library.h"
#include "plan/published/published_table.h"

namespace mpitron::plan {

/// A fitted value before and after, and what determines it.
struct FittedParameter {
  std::string name;  // file and key
  double before = 0;
  double after = 0;
  double learned = 0;  // share of what is known of it that comes from the rows: 0: all was assumed
  std::string correlated_with;  // the parameter that moves with it most
  double correlation = 0;
};

/// The result of a fit.
struct FitResult {
  std::vector<FittedParameter> parameters;
  std::size_t rows = 0;
  double error_before = 0;  // median, of a step
  double error_after = 0;
  std::vector<std::string> undetermined;  // parameters that no row depends on: left as they were
};

/// Changes the fitted values of the library so that steps of these rows are told best: the most
/// likely values where errors of rows follow a t distribution as wide as their class is uncertain,
/// and a value lies around the plain one of its file, or else the one it would inherit, as far as
/// its key says (parameter_table.h). Levenberg-Marquardt on logarithms, of shares on log-odds.
FitResult refit(Library& library, const std::vector<PublishedRow>& rows, int rounds = 20);

}  // namespace mpitron::plan
