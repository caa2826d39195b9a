#include "pipeline/draw.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

// Draws a simulated schedule as text; times come from the simulator, nothing is computed here.

namespace mpitron::pipeline {
namespace {

std::string label(const Action& action, Index chunks) {
  const char kind = action.kind == ActionKind::forward           ? 'F'
                    : action.kind == ActionKind::backward_weight ? 'W'
                                                                 : 'B';
  return chunks > 1 ? fmt::format("{}{}.{}", kind, action.microbatch, action.chunk)
                    : fmt::format("{}{}", kind, action.microbatch);
}

/// The shortest computation that the schedule has.
double time_unit(const Simulation& simulation) {
  double unit = 0;
  for (const StageSimulation& stage : simulation.stages) {
    for (const ComputeSpan& span : stage.spans) {
      const double cost = span.end - span.start;
      unit = cost > 0 && (unit == 0 || cost < unit) ? cost : unit;
    }
  }
  return unit > 0 ? unit : 1;
}

class Drawing {
 public:
  Drawing(const Simulation& simulation, const ScheduleOptions& options)
      : chunks_(options.chunks),
        unit_(time_unit(simulation)),
        columns_(column(simulation.makespan)),
        width_(label({.chunk = options.chunks - 1, .microbatch = options.microbatches - 1},
                     options.chunks)
                   .size() +
               1) {}

  std::string row(const StageSimulation& stage) const {
    std::string text(columns_ * width_, ' ');
    for (std::size_t c = 0; c < columns_; ++c) {
      text[c * width_] = '.';
    }
    for (const ComputeSpan& span : stage.spans) {
      const std::size_t first = column(span.start) * width_;
      const std::size_t end = std::max(column(span.end) * width_, first + width_);
      const std::string name = label(span.action, chunks_);
      text.resize(std::max(text.size(), end), ' ');
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(first),
                text.begin() + static_cast<std::ptrdiff_t>(end - 1), '=');
      std::copy(name.begin(), name.end(), text.begin() + static_cast<std::ptrdiff_t>(first));
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(first + name.size()),
                text.begin() + static_cast<std::ptrdiff_t>(first + width_ - 1),
                end > first + width_ ? '=' : ' ');
    }
    return text;
  }

 private:
  std::size_t column(double time) const {
    return static_cast<std::size_t>(std::llround(time / unit_));
  }

  Index chunks_;
  double unit_;
  std::size_t columns_;
  std::size_t width_;  // characters of a column
};

std::string summary(const Simulation& simulation) {
  std::string tapes;
  Index received = 0;
  for (const StageSimulation& stage : simulation.stages) {
    tapes += fmt::format(" {}", stage.peak_live_tapes);
    received = std::max(received, stage.peak_received);
  }
  return fmt::format(
      "makespan {:.6g}, bubble {:.2f} % of the computing time, receive buffers {}\n"
      "live tapes by stage:{}\n",
      simulation.makespan, 100 * simulation.bubble(), received, tapes);
}

}  // namespace

std::string draw(const Schedule& schedule, const Costs& costs, Index max_characters) {
  const Simulation simulation = simulate(schedule, costs);
  MPITRON_CHECK(simulation.problem.empty(), simulation.problem);
  const ScheduleOptions& options = schedule.options;
  std::string text = fmt::format("{}: {} stages, {} chunks, {} microbatches in groups of {}\n",
                                 to_string(options.kind), options.stages, options.chunks,
                                 options.microbatches, options.group_size());
  const Drawing drawing(simulation, options);
  const std::size_t digits = std::to_string(options.stages - 1).size();
  for (std::size_t s = 0; s < simulation.stages.size(); ++s) {
    std::string row = fmt::format("{:>{}} | {}", s, digits, drawing.row(simulation.stages[s]));
    if (max_characters > 0 && static_cast<Index>(row.size()) > max_characters) {
      row.resize(static_cast<std::size_t>(max_characters));
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text + summary(simulation);
}

}  // namespace mpitron::pipeline
