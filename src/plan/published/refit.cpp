#include "plan/published/refit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "plan/published/least_squares.h"
#include "plan/published/prediction.h"
#include "plan/published/validation.h"
#include "utils/error.h"

// Fits the calibrated values of machine and stack files to published steps (`mpitron plan
// --refit`): collects rows and fitted keys, and is the problem that LeastSquares solves.

namespace mpitron::plan {
namespace {

/// A fitted value as the solver moves it: its logarithm, or the log-odds of a share.
struct Parameter {
  ParameterFile* file;
  std::string key;
  bool share;  // of 1
  double least;
  double most;
  double spread;
  std::optional<std::size_t> parent;  // whose value this one would have
  double centre = 0;                  // without a parent
  std::vector<std::size_t> rows = {};

  double inner(double value) const {
    const double inside = std::clamp(value, least, most);
    return share ? std::log(inside / (1 - inside)) : std::log(inside);
  }
  double outer(double z) const {
    return std::clamp(share ? 1 / (1 + std::exp(-z)) : std::exp(z), least, most);
  }
  double& value() const { return file->fitted.at(key); }
};

/// A row whose step is told again and again while values move.
struct FittedRow {
  const PublishedRow* row;
  std::vector<Job> candidates;
  const ParameterFile* machine;
  const ParameterFile* stack;
  double seconds;  // as measured
  double scale;    // of its class' errors
};

class Fitter {
 public:
  Fitter(Library& library, const std::vector<PublishedRow>& rows) : library_(library) {
    for (const PublishedRow& row : rows) {
      try {
        add_row(row);
      } catch (const Error&) {  // validate tells what is wrong with it
      }
    }
    collect(library.machines, machine_keys(), &FittedRow::machine);
    collect(library.stacks, stack_keys(), &FittedRow::stack);
  }

  FitResult run(int rounds) {
    FitResult result{.parameters = {}, .rows = rows_.size()};
    for (const Parameter& parameter : parameters_) {
      result.parameters.push_back(
          {.name = parameter.file->name + " " + parameter.key, .before = parameter.value()});
      if (parameter.rows.empty()) {
        result.undetermined.push_back(parameter.file->name + " " + parameter.key);
      }
    }
    remake(nullptr);
    result.error_before = median_error();
    LeastSquares solver(*this, parameters_.size());
    solver.run(rounds);
    result.error_after = median_error();
    describe(solver.covariance(), result.parameters);
    return result;
  }

  // The functions that LeastSquares calls.
  std::vector<double> place() const {
    std::vector<double> z;
    for (const Parameter& parameter : parameters_) {
      z.push_back(parameter.inner(parameter.value()));
    }
    return z;
  }
  void move_to(const std::vector<double>& z) {
    for (std::size_t j = 0; j < z.size(); ++j) {
      parameters_[j].value() = parameters_[j].outer(z[j]);
    }
    remake(nullptr);
  }
  std::vector<double> residuals() const {
    std::vector<double> result(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      result[i] = residual(i);
    }
    return result;
  }
  double scale(std::size_t i) const { return rows_[i].scale; }
  const std::vector<std::size_t>& rows_of(std::size_t j) const { return parameters_[j].rows; }
  /// Returns the residuals of the rows of parameter `j` where it is at `z`; the others stay. Only
  /// machines and stacks that see the parameter are made anew: this is called for each parameter in
  /// each round.
  std::vector<double> moved_residuals(std::size_t j, double z) {
    const Parameter& parameter = parameters_[j];
    const double before = parameter.value();
    parameter.value() = parameter.outer(z);
    remake(&parameter);
    std::vector<double> result;
    for (const std::size_t i : parameter.rows) {
      result.push_back(residual(i));
    }
    parameter.value() = before;
    remake(&parameter);
    return result;
  }
  double prior_spread(std::size_t j) const { return parameters_[j].spread; }
  std::optional<std::size_t> prior_parent(std::size_t j) const { return parameters_[j].parent; }
  double prior_centre(std::size_t j) const { return parameters_[j].centre; }

 private:
  void add_row(const PublishedRow& row) {
    const ParameterFile* machine = library_.machines.find(row.hardware);
    if (!row.layout_known || machine == nullptr) {
      return;
    }
    const Machine made = make_machine(machine->name, library_.machines.values(*machine));
    made.product_rate(row.practice.precision.value_or(Precision::bf16));  // or it cannot be told
    rows_.push_back({.row = &row,
                     .candidates = candidate_jobs(row, made.memory),
                     .machine = machine,
                     .stack = &stack_file(library_, row, nullptr),
                     .seconds = measured_seconds(row, made),
                     .scale = error_scale(validation_class(row, made))});
  }

  /// Makes a parameter of every fitted key that is known.
  template <class T>
  void collect(ParameterFiles& files, std::span<const ParameterKey<T>> keys,
               const ParameterFile* FittedRow::*of_row) {
    for (ParameterFile& file : files.all()) {
      for (const auto& [name, value] : file.fitted) {
        const auto key =
            std::ranges::find_if(keys, [&](const auto& known) { return name == known.key; });
        if (key != keys.end()) {
          add_parameter(files, file, *key, of_row);
        }
      }
    }
  }

  template <class T>
  void add_parameter(ParameterFiles& files, ParameterFile& file, const ParameterKey<T>& key,
                     const ParameterFile* FittedRow::*of_row) {
    /// The ends of a share are infinitely far in log-odds; a fitted value stays off them.
    const bool share = key.least == 0 && key.most == 1;
    Parameter parameter{.file = &file,
                        .key = key.key,
                        .share = share,
                        .least = share ? 0.005 : std::max(key.least, 1e-7),
                        .most = share ? 0.995 : key.most,
                        .spread = key.spread,
                        .parent = std::nullopt};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (files.reaches(rows_[i].*of_row, file, key.key)) {
        parameter.rows.push_back(i);
      }
    }
    set_prior(files, file, T().*key.field, parameter);
    parameters_.push_back(parameter);
  }

  /// Sets the expected value: the plain value of the same file, or else what it would inherit.
  void set_prior(const ParameterFiles& files, const ParameterFile& file, double otherwise,
                 Parameter& parameter) const {
    const auto plain = [&](const ParameterFile& from) {
      const auto at = from.values.find(parameter.key);
      return at == from.values.end() ? std::nullopt : std::optional(std::stod(at->second));
    };
    const ParameterFile* from = &file;
    std::optional<double> centre = plain(file);
    while (!centre && !from->extends.empty()) {
      from = files.find(from->extends);
      for (std::size_t j = 0; j < parameters_.size(); ++j) {
        if (parameters_[j].file == from && parameters_[j].key == parameter.key) {
          parameter.parent = j;
          return;
        }
      }
      if (from->fitted.contains(parameter.key)) {
        centre = from->fitted.at(parameter.key);  // of a file that comes later
      } else {
        centre = plain(*from);
      }
    }
    parameter.centre = parameter.inner(centre.value_or(otherwise));
  }

  /// Tells of each parameter how much of its certainty comes from rows, and with which other one it
  /// moves.
  void describe(const std::vector<double>& covariance, std::vector<FittedParameter>& told) const {
    const std::size_t n = told.size();
    for (std::size_t j = 0; j < n; ++j) {
      told[j].after = parameters_[j].value();
      if (covariance.empty()) {
        continue;
      }
      const double own = covariance[j * n + j], prior = parameters_[j].spread;
      told[j].learned = std::max(0.0, 1 - own / (prior * prior));
      for (std::size_t k = 0; k < n; ++k) {
        const double both = own * covariance[k * n + k];
        const double correlation =
            k == j || both <= 0 ? 0 : covariance[j * n + k] / std::sqrt(both);
        if (std::abs(correlation) > std::abs(told[j].correlation)) {
          told[j].correlation = correlation;
          told[j].correlated_with = told[k].name;
        }
      }
    }
  }

  /// Makes the machines and stacks that see a change of this parameter; all for null.
  void remake(const Parameter* changed) {
    for (const FittedRow& row : rows_) {
      machines_.try_emplace(row.machine);
      stacks_.try_emplace(row.stack);
    }
    for (auto& [file, machine] : machines_) {
      if (changed == nullptr || library_.machines.reaches(file, *changed->file, changed->key)) {
        machine = make_machine(file->name, library_.machines.values(*file));
      }
    }
    for (auto& [file, stack] : stacks_) {
      if (changed == nullptr || library_.stacks.reaches(file, *changed->file, changed->key)) {
        stack = make_stack(file->name, library_.stacks.values(*file));
      }
    }
  }

  /// Returns the logarithm of predicted over measured time: too slow and too fast by a factor count
  /// alike.
  double residual(std::size_t i) const {
    const FittedRow& row = rows_[i];
    const Prediction told =
        predict(machines_.at(row.machine), stacks_.at(row.stack), row.candidates);
    return std::log(told.time.seconds() / row.seconds);
  }

  double median_error() const {
    std::vector<double> errors = residuals();
    std::ranges::transform(errors, errors.begin(), [](double r) { return std::abs(r); });
    std::ranges::sort(errors);
    return errors.empty() ? 0 : std::expm1(errors[errors.size() / 2]);
  }

  Library& library_;
  std::vector<FittedRow> rows_;
  std::vector<Parameter> parameters_;
  std::map<const ParameterFile*, Machine> machines_;
  std::map<const ParameterFile*, Stack> stacks_;
};

}  // namespace

FitResult refit(Library& library, const std::vector<PublishedRow>& rows, int rounds) {
  return Fitter(library, rows).run(rounds);
}

}  // namespace mpitron::plan
