#pragma once
#include <string>
#include <vector>

#include "plan/published/prediction.h"

namespace mpitron::plan {

/// A row beside its prediction.
struct ValidatedRow {
  const PublishedRow* row = nullptr;
  std::string group;  // the class whose errors are told together
  double predicted = 0;
  bool stack_is_known = true;
  StepTime time;

  double error() const { return predicted / row->seconds - 1; }  // above 0: predicted too slow
};

struct Validation {
  std::vector<ValidatedRow> rows;
  std::vector<const PublishedRow*> unknown_hardware;
  std::vector<const PublishedRow*> without_layout;
};
Validation validate(const Library& library, const std::vector<PublishedRow>& rows);

/// Errors of a class, as shares of the measured time, without sign.
struct ErrorSummary {
  std::string group;
  std::size_t rows = 0;
  double median = 0;
  double ninth_decile = 0;
  double largest = 0;
};
std::vector<ErrorSummary> summarize(const Validation& validation);

/// How wide errors of a class are spread, of a step.
double error_scale(const std::string& group);

/// Rows that a fit has not seen: the rows are dealt to `folds` parts, by themselves or by their
/// tables as a whole, and each part is predicted with values that are fitted to all others.
Validation cross_validate(const Library& library, const std::vector<PublishedRow>& rows,
                          Index folds, bool by_table);

/// Class of section `validation` of docs/how-to/plan-a-large-run.md.
std::string validation_class(const PublishedRow& row, const Machine& machine);

}  // namespace mpitron::plan
