#include "pipeline/simulator.h"

#include <algorithm>

#include <fmt/format.h>

#include "pipeline/simulated_messages.h"
#include "pipeline/virtual_stages.h"

// Plays a whole schedule in simulated time and proves it: every computation once, its data there,
// nobody waits for ever, both ends of a message alike, everything received and sent in the end.
// What it measures on the way (bubble, live activations, open messages) is what `plan` shows.

namespace mpitron::pipeline {
namespace {

/// Progress of one (stage, chunk, microbatch).
struct Cell {
  bool forward = false;
  bool input_gradient = false;
  bool weight_gradient = false;
};

/// Position of a stage in its list, and what it holds.
struct StageState {
  std::size_t next = 0;
  double clock = 0;
  Index live_tapes = 0;
  Index received = 0;
  Index sends = 0;
};

/// Runs each stage until it has to wait; what another stage posts lets it go on.
class Simulator {
 public:
  Simulator(const Schedule& schedule, const Costs& costs, Transport transport);
  Simulation run();

 private:
  enum class Step { done, blocked, broken };

  Step step(Index stage, const Action& action);
  Step compute(Index stage, const Action& action);
  Step send(Index stage, const Action& action);
  Step receive(Index stage, const Action& action);
  Step wait(Index stage, const Action& action);

  std::string missing_data(Index stage, const Action& action) const;
  std::string illegal_order(const Action& action, const Cell& cell) const;
  std::string badly_joined(Index stage, const Action& action) const;
  void note_compute(Index stage, const Action& action, Cell& cell);
  bool right_peer(Index stage, const Action& action) const;
  Step broken(Index stage, const Action& action, std::string_view what);
  void check_deadlock();
  void check_complete();
  void check_message(Index stage, Index chunk, Index microbatch, Payload payload);

  std::size_t index(Index stage, Index chunk, Index microbatch) const {
    return static_cast<std::size_t>(ring_.number(stage, chunk) * options_.microbatches +
                                    microbatch);
  }
  StageState& state(Index stage) { return states_[static_cast<std::size_t>(stage)]; }
  const StageState& state(Index stage) const { return states_[static_cast<std::size_t>(stage)]; }

  const Schedule& schedule_;
  const ScheduleOptions& options_;
  Costs costs_;
  VirtualStages ring_;
  std::vector<StageState> states_;
  std::vector<Cell> cells_;
  SimulatedMessages messages_;
  std::vector<Index> ready_;
  Simulation result_;
};

Simulator::Simulator(const Schedule& schedule, const Costs& costs, Transport transport)
    : schedule_(schedule),
      options_(schedule.options),
      costs_(costs),
      ring_{options_.stages, options_.chunks},
      states_(schedule.stages.size()),
      cells_(static_cast<std::size_t>(ring_.count() * options_.microbatches)),
      messages_(options_, transport, costs.latency) {
  MPITRON_CHECK(static_cast<Index>(schedule.stages.size()) == options_.stages, options_.stages);
  result_.stages.resize(schedule.stages.size());
}

Simulation Simulator::run() {
  for (Index stage = 0; stage < options_.stages; ++stage) {
    ready_.push_back(stage);
  }
  while (!ready_.empty() && result_.problem.empty()) {
    const Index stage = ready_.back();
    ready_.pop_back();
    const ActionList& list = schedule_.stages[static_cast<std::size_t>(stage)];
    StageState& now = state(stage);
    while (now.next < list.size() && step(stage, list[now.next]) == Step::done) {
      ++now.next;
    }
  }
  if (result_.problem.empty()) {
    check_deadlock();
  }
  if (result_.problem.empty()) {
    check_complete();
  }
  for (const StageState& stage : states_) {
    result_.makespan = std::max(result_.makespan, stage.clock);
  }
  return std::move(result_);
}

Simulator::Step Simulator::step(Index stage, const Action& action) {
  if (action.chunk < 0 || action.chunk >= options_.chunks || action.microbatch < 0 ||
      action.microbatch >= options_.microbatches) {
    return broken(stage, action, "there is no such chunk or microbatch");
  }
  if (action.is_compute()) {
    return compute(stage, action);
  }
  if (!right_peer(stage, action)) {
    return broken(stage, action, "the other end is not the neighbour of this chunk");
  }
  switch (action.kind) {
    case ActionKind::send:
      return send(stage, action);
    case ActionKind::receive:
      return receive(stage, action);
    default:
      return wait(stage, action);
  }
}

Simulator::Step Simulator::broken(Index stage, const Action& action, std::string_view what) {
  result_.problem =
      fmt::format("stage {}, action {} ({}): {}", stage, state(stage).next, describe(action), what);
  return Step::broken;
}

bool Simulator::right_peer(Index stage, const Action& action) const {
  const bool sends = action.kind == ActionKind::send || action.kind == ActionKind::wait_send;
  const bool downstream = sends == (action.payload == Payload::activation);
  const auto peer =
      downstream ? ring_.after(stage, action.chunk) : ring_.before(stage, action.chunk);
  return action.payload != Payload::none && peer &&
         *peer == ChunkPosition{.stage = action.peer_stage, .chunk = action.peer_chunk};
}

/// Empty, or what a computation needs from another stage and has not waited for.
std::string Simulator::missing_data(Index stage, const Action& action) const {
  const bool forward = action.kind == ActionKind::forward;
  const bool remote =
      action.kind != ActionKind::backward_weight &&
      (forward ? ring_.before(stage, action.chunk) : ring_.after(stage, action.chunk));
  const Payload payload = forward ? Payload::activation : Payload::gradient;
  if (remote && !messages_.received(stage, action.chunk, action.microbatch, payload)) {
    return forward ? "its input was not received" : "its gradient was not received";
  }
  return {};
}

std::string Simulator::illegal_order(const Action& action, const Cell& cell) const {
  switch (action.kind) {
    case ActionKind::forward:
      return cell.forward ? "it ran before" : "";
    case ActionKind::backward_weight:
      return !cell.input_gradient   ? "the gradient of the input comes first"
             : cell.weight_gradient ? "it ran before"
                                    : "";
    default:
      return !cell.forward ? "the forward comes first" : cell.input_gradient ? "it ran before" : "";
  }
}

/// A joined forward and the backward behind it start at once, so neither may need the other.
std::string Simulator::badly_joined(Index stage, const Action& action) const {
  if (!action.joined) {
    return {};
  }
  const ActionList& list = schedule_.stages[static_cast<std::size_t>(stage)];
  const std::size_t next = state(stage).next + 1;
  const bool backward = action.kind == ActionKind::forward && next < list.size() &&
                        list[next].kind == ActionKind::backward;
  return !backward ? "no backward follows the joined forward"
         : list[next].chunk == action.chunk && list[next].microbatch == action.microbatch
             ? "it is joined with its own backward"
             : "";
}

Simulator::Step Simulator::compute(Index stage, const Action& action) {
  Cell& cell = cells_[index(stage, action.chunk, action.microbatch)];
  for (const std::string& what :
       {illegal_order(action, cell), missing_data(stage, action), badly_joined(stage, action)}) {
    if (!what.empty()) {
      return broken(stage, action, what);
    }
  }
  note_compute(stage, action, cell);
  StageState& now = state(stage);
  StageSimulation& report = result_.stages[static_cast<std::size_t>(stage)];
  const double cost = costs_.of(action.kind);
  report.spans.push_back({.action = action, .start = now.clock, .end = now.clock + cost});
  report.busy += cost;
  report.peak_live_tapes = std::max(report.peak_live_tapes, now.live_tapes);
  now.clock += cost;
  if (cell.weight_gradient) {
    --now.live_tapes;
  }
  return Step::done;
}

/// Marks what the computation does, and takes its message out of the buffers.
void Simulator::note_compute(Index stage, const Action& action, Cell& cell) {
  StageState& now = state(stage);
  switch (action.kind) {
    case ActionKind::forward:
      cell.forward = true;
      now.live_tapes += options_.forward_only ? 0 : 1;
      now.received -= ring_.before(stage, action.chunk) ? 1 : 0;
      break;
    case ActionKind::backward_weight:
      cell.weight_gradient = true;
      break;
    default:
      cell.input_gradient = true;
      cell.weight_gradient = action.kind == ActionKind::backward;
      now.received -= ring_.after(stage, action.chunk) ? 1 : 0;
  }
}

Simulator::Step Simulator::send(Index stage, const Action& action) {
  const Cell& cell = cells_[index(stage, action.chunk, action.microbatch)];
  if (!(action.payload == Payload::activation ? cell.forward : cell.input_gradient)) {
    return broken(stage, action, "there is nothing to send yet");
  }
  StageState& now = state(stage);
  if (!messages_.post(stage, action, now.clock)) {
    return broken(stage, action, "it was sent before");
  }
  StageSimulation& report = result_.stages[static_cast<std::size_t>(stage)];
  report.peak_sends = std::max(report.peak_sends, ++now.sends);
  ready_.push_back(action.peer_stage);
  return Step::done;
}

Simulator::Step Simulator::receive(Index stage, const Action& action) {
  StageState& now = state(stage);
  if (!messages_.post(stage, action, now.clock)) {
    return broken(stage, action, "it was received before");
  }
  StageSimulation& report = result_.stages[static_cast<std::size_t>(stage)];
  report.peak_received = std::max(report.peak_received, ++now.received);
  ready_.push_back(action.peer_stage);
  return Step::done;
}

Simulator::Step Simulator::wait(Index stage, const Action& action) {
  const auto [over, problem] = messages_.wait(stage, action);
  if (!problem.empty()) {
    return broken(stage, action, problem);
  }
  if (!over) {
    return Step::blocked;
  }
  StageState& now = state(stage);
  now.clock = std::max(now.clock, *over);
  now.sends -= action.kind == ActionKind::wait_send ? 1 : 0;
  return Step::done;
}

void Simulator::check_deadlock() {
  std::string waiting;
  for (Index stage = 0; stage < options_.stages; ++stage) {
    const ActionList& list = schedule_.stages[static_cast<std::size_t>(stage)];
    const std::size_t next = state(stage).next;
    if (next < list.size()) {
      waiting +=
          fmt::format("; stage {} waits at action {} ({})", stage, next, describe(list[next]));
    }
  }
  if (!waiting.empty()) {
    result_.problem = "deadlock" + waiting;
  }
}

void Simulator::check_message(Index stage, Index chunk, Index microbatch, Payload payload) {
  if (!messages_.complete(stage, chunk, microbatch, payload)) {
    result_.problem = fmt::format(
        "the {} for stage {}, chunk {}, microbatch {} was not sent, received and waited for in "
        "the order of its channel",
        payload == Payload::activation ? "activation" : "gradient", stage, chunk, microbatch);
  }
}

void Simulator::check_complete() {
  for (Index stage = 0; stage < options_.stages; ++stage) {
    for (Index chunk = 0; chunk < options_.chunks; ++chunk) {
      for (Index m = 0; m < options_.microbatches; ++m) {
        const Cell& cell = cells_[index(stage, chunk, m)];
        const bool backward = cell.input_gradient && cell.weight_gradient;
        if (!cell.forward || (!backward && !options_.forward_only)) {
          result_.problem = fmt::format(
              "stage {}, chunk {}, microbatch {} was not computed to the end", stage, chunk, m);
        }
        if (ring_.before(stage, chunk)) {
          check_message(stage, chunk, m, Payload::activation);
        }
        if (ring_.after(stage, chunk) && !options_.forward_only) {
          check_message(stage, chunk, m, Payload::gradient);
        }
      }
    }
  }
}

}  // namespace

double Costs::of(ActionKind kind) const {
  switch (kind) {
    case ActionKind::forward:
      return forward;
    case ActionKind::backward:
      return backward_input + backward_weight;
    case ActionKind::backward_input:
      return backward_input;
    case ActionKind::backward_weight:
      return backward_weight;
    default:
      return 0;
  }
}

double Simulation::bubble() const {
  double busiest = 0;
  for (const StageSimulation& stage : stages) {
    busiest = std::max(busiest, stage.busy);
  }
  return busiest > 0 ? makespan / busiest - 1 : 0;
}

Simulation simulate(const Schedule& schedule, const Costs& costs, Transport transport) {
  return Simulator(schedule, costs, transport).run();
}

}  // namespace mpitron::pipeline
