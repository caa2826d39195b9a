#include "plan/published/refit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "plan/published/prediction.h"

namespace mpitron::plan {
namespace {

constexpr double kCap = 0.35;    // larger errors are the source's
constexpr double kPull = 0.002;  // loss of a parameter that is e times its start

struct Parameter {
  double* value;
  double start;
  double least;
  double most;
  std::string name;
  std::vector<std::size_t> rows;  // that may depend on it
  double step = 0.15;             // of its logarithm
};

template <class T>
const ParameterKey<T>* find_key(std::span<const ParameterKey<T>> keys, const std::string& name) {
  const auto at = std::ranges::find_if(keys, [&](const auto& key) { return name == key.key; });
  return at == keys.end() ? nullptr : &*at;
}

class Fitter {
 public:
  Fitter(Library& library, const std::vector<PublishedRow>& rows) : library_(library) {
    for (const PublishedRow& row : rows) {
      if (row.layout_known && library.machine(row.hardware)) {
        rows_.push_back(&row);
      }
    }
    losses_.resize(rows_.size());
    collect(library.machines, machine_keys(),
            [&](const PublishedRow& row) { return library_.machines.find(row.hardware); });
    collect(library.stacks, stack_keys(), [&](const PublishedRow& row) { return stack_file(row); });
  }

  FitResult run(int rounds) {
    FitResult result{.parameters = parameters_.size(), .rows = rows_.size()};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      losses_[i] = row_loss(i);
    }
    result.loss_before = mean_loss();
    std::vector<bool> moved(parameters_.size(), false);
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        moved[i] = improve(parameters_[i]) || moved[i];
      }
    }
    result.loss_after = mean_loss();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!moved[i] && parameters_[i].rows.empty()) {
        result.undetermined.push_back(parameters_[i].name);
      }
    }
    return result;
  }

 private:
  const ParameterFile* stack_file(const PublishedRow& row) const {
    for (const std::string& name : stack_names(row)) {
      if (const ParameterFile* file = library_.stacks.find(name)) {
        return file;
      }
    }
    return library_.stacks.find("unknown");
  }

  /// True if a value in `file` may be seen by what extends it as far as `from`.
  static bool reaches(const ParameterFiles& files, const ParameterFile* from,
                      const ParameterFile& file, const std::string& key) {
    for (; from != nullptr; from = from->extends.empty() ? nullptr : files.find(from->extends)) {
      if (from == &file) {
        return true;
      }
      if (from->fitted.contains(key) || from->values.contains(key)) {
        return false;
      }
    }
    return false;
  }

  template <class T, class FileOf>
  void collect(ParameterFiles& files, std::span<const ParameterKey<T>> keys, FileOf file_of) {
    for (ParameterFile& file : files.all()) {
      for (auto& [name, value] : file.fitted) {
        const ParameterKey<T>* key = find_key(keys, name);
        if (key == nullptr) {
          continue;  // told where the file is used
        }
        Parameter parameter{.value = &value,
                            .start = value,
                            .least = std::max(key->least, 1e-7),
                            .most = key->most,
                            .name = file.name + " " + name};
        for (std::size_t i = 0; i < rows_.size(); ++i) {
          if (reaches(files, file_of(*rows_[i]), file, name)) {
            parameter.rows.push_back(i);
          }
        }
        parameters_.push_back(parameter);
      }
    }
  }

  double row_loss(std::size_t i) const {
    const PublishedRow& row = *rows_[i];
    const RowParts parts = parts_of(library_, row);
    const double error =
        std::log(predict(*parts.machine, *parts.stack, row).time.seconds() / row.seconds);
    const double size = std::abs(error);
    return size < kCap ? size + 2 * size * size : kCap + 2 * kCap * kCap + 0.3 * (size - kCap);
  }

  double mean_loss() const {
    double sum = 0;
    for (const double loss : losses_) {
      sum += loss;
    }
    return sum / static_cast<double>(losses_.size());
  }

  double loss_with(const Parameter& parameter, std::vector<double>& losses) const {
    const double away =
        std::log(std::max(*parameter.value, 1e-9) / std::max(parameter.start, 1e-9));
    double sum = kPull * away * away;
    for (std::size_t i = 0; i < parameter.rows.size(); ++i) {
      losses[i] = row_loss(parameter.rows[i]);
      sum += losses[i];
    }
    return sum;
  }

  bool improve(Parameter& parameter) {
    if (parameter.rows.empty()) {
      return false;
    }
    const double here = std::clamp(*parameter.value, parameter.least, parameter.most);
    std::vector<double> best_losses(parameter.rows.size()), losses = best_losses;
    double best = loss_with(parameter, best_losses), chosen = *parameter.value;
    for (const double direction : {-1.0, 1.0}) {
      *parameter.value =
          std::clamp(here * std::exp(direction * parameter.step), parameter.least, parameter.most);
      const double loss = loss_with(parameter, losses);
      if (loss < best - 1e-9) {
        best = loss;
        best_losses = losses;
        chosen = *parameter.value;
      }
    }
    const bool moved = chosen != here;
    parameter.step = std::clamp(parameter.step * (moved ? 1.4 : 0.5), 0.004, 0.7);
    *parameter.value = chosen;
    for (std::size_t i = 0; i < parameter.rows.size(); ++i) {
      losses_[parameter.rows[i]] = best_losses[i];
    }
    return moved;
  }

  Library& library_;
  std::vector<const PublishedRow*> rows_;
  std::vector<double> losses_;
  std::vector<Parameter> parameters_;
};

}  // namespace

FitResult refit(Library& library, const std::vector<PublishedRow>& rows, int rounds) {
  return Fitter(library, rows).run(rounds);
}

}  // namespace mpitron::plan
