#pragma once
#include <string>
#include <utility>
#include <vector>

#include "plan/published/prediction.h"

namespace mpitron::plan {

/// A row beside its prediction.
struct ValidatedRow {
  const PublishedRow* row = nullptr;
  std::string group;     // the class whose errors are told together
  double published = 0;  // seconds of a step
  double predicted = 0;
  bool stack_is_known = true;
  StepTime time;
  std::string layout = {};  // that has been searched

  double error() const { return predicted / published - 1; }  // above 0: predicted too slow
};

/// All rows of a table: predicted, or set aside with a reason.
struct Validation {
  std::vector<ValidatedRow> rows;
  std::vector<const PublishedRow*> unknown_hardware;
  std::vector<const PublishedRow*> without_layout;
  std::vector<std::pair<const PublishedRow*, std::string>> refused;  // and what is wrong with it
};
/// Predicts every row with a known machine and a layout; the rows outlive the result.
Validation validate(const Library& library, const std::vector<PublishedRow>& rows);

/// Predicts rows without layout in their best one, as a class of their own; those that tell no
/// shape or batch stay where they are.
void search_layouts(const Library& library, Validation& validation);

/// Errors of a class, as shares of the measured time, without sign.
struct ErrorSummary {
  std::string group;
  std::size_t rows = 0;
  double median = 0;
  double ninth_decile = 0;
  double largest = 0;
};
std::vector<ErrorSummary> summarize(const Validation& validation);

/// Returns the spread of the errors of a class, as a share of the step.
double error_scale(const std::string& group);

/// Parts of a table that a fit does not see at once: parts of its rows, of its sources' tables, or
/// each source as a whole.
enum class HeldOut { rows, tables, sources };

/// Predicts rows that a fit has not seen: each of `folds` parts (of HeldOut::sources: each source)
/// is predicted with values that are fitted to all others.
Validation cross_validate(const Library& library, const std::vector<PublishedRow>& rows, HeldOut by,
                          Index folds);

/// Returns the class that the table of errors in docs/how-to/plan-a-large-run.md counts the row in.
std::string validation_class(const PublishedRow& row, const Machine& machine);

}  // namespace mpitron::plan
