#include <algorithm>
#include <filesystem>

#include "cli/flags.h"
#include "cli/show/plan_commands.h"
#include "report/run_folder.h"
#include "train/timing/trace_summary.h"
#include "utils/log.h"

// `mpitron plan --from-trace`: scales the predicted parts of another layout by the ratio of traced
// to predicted parts of this one.

namespace mpitron::cli {
namespace {

namespace fs = std::filesystem;

/// The parts of a step that a trace tells apart.
struct TracedStep {
  double work = 0;     // in kernels and between them
  double exposed = 0;  // waits for communication
  double bubble = 0;

  double seconds() const { return work + exposed + bubble; }
};

/// Returns the seconds of a step, averaged over ranks and steps of the traces.
TracedStep traced_step(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") {
      files.push_back(entry.path());
    }
  }
  constexpr double kMilliseconds = 1e-3;
  TracedStep sum;
  const auto ranks = train::summarize_traces(files);
  for (const train::RankTimes& rank : ranks) {
    const double share = kMilliseconds / (static_cast<double>(ranks.size()) * rank.steps);
    sum.work += share * (rank.compute + rank.other);
    sum.exposed += share * rank.exposed;
    sum.bubble += share * rank.bubble;
  }
  return sum;
}

/// Sorts the model's terms into the three parts that a trace can tell apart.
TracedStep parts_as_traced(const plan::StepTime& time) {
  const plan::Terms& w = time.work;
  return {.work = w.compute() + time.optimizer + time.fixed + time.jitter,
          .exposed = w.tensor + w.context + w.expert + w.sharding + time.data,
          .bubble = time.bubble + time.sends};
}

/// Applies a what-if: sizes change the layout, all other names multiply values of machine and
/// software.
void change(plan::Machine& machine, plan::Stack& stack, config::RunConfig& run,
            const std::string& text) {
  plan::Layout layout = plan::layout_of(run);
  const std::pair<const char*, Index*> kSizes[] = {
      {"gpus", &layout.gpus},      {"tp", &layout.tensor}, {"cp", &layout.context},
      {"pp", &layout.pipeline},    {"vp", &layout.chunks}, {"ep", &layout.expert},
      {"mbs", &layout.micro_batch}};
  for (const auto& [name, value] : assignments("--what-if", text)) {
    const auto size =
        std::ranges::find_if(kSizes, [&](const auto& one) { return name == one.first; });
    if (size != std::end(kSizes)) {
      *size->second = static_cast<Index>(value);
    } else if (!multiply_value(machine, stack, name, value)) {
      throw_usage(
          "plan: --what-if {}: neither a size (gpus, tp, cp, pp, vp, ep, mbs) nor a value "
          "of machine and stack files",
          name);
    }
  }
  if (layout.gpus % (layout.tensor * layout.context * layout.pipeline) != 0) {
    throw_usage("plan: --what-if: {} GPUs are no multiple of tp x cp x pp = {}", layout.gpus,
                layout.tensor * layout.context * layout.pipeline);
  }
  plan::apply(layout, run);
}

/// Corrects nothing where either side has no time in a part.
double ratio(double traced, double told) {
  return told > 0 && traced > 0 ? traced / told : 1;
}

}  // namespace

int plan_from_trace(const Arguments& arguments) {
  std::string folder, machine_name, stack_name = "mpitron", what_if;
  Flags flags("plan --from-trace",
              "Holds the model against the traces of a profiled run, and predicts another layout "
              "with what they say of the parts that stay equal.");
  flags.option("--from-trace", folder, "Folder of the traces, in that of the run");
  flags.option("--machine", machine_name, "Machine that it ran on: a name or a .yaml file");
  flags.required();
  flags.option("--stack", stack_name, "Software");
  flags.option("--what-if", what_if, "pp=8,gpus=2048 (sizes) or network.share=2 (factors)");
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  plan::Library library;
  plan::Machine machine = find_machine(library, machine_name);
  plan::Stack stack = find_stack(library, stack_name);
  config::RunConfig run = run_of(report::read_run(fs::path(folder).parent_path()));
  const TracedStep traced = traced_step(folder);
  const TracedStep told = parts_as_traced(plan::step_time({machine, stack, plan::make_job(run)}));
  log::print(
      fmt::format("unchanged: traces {:.4f} s = work {:.4f} + waits for communication {:.4f} + for "
                  "the pipeline "
                  "{:.4f}; model {:.4f} s = {:.4f} + {:.4f} + {:.4f}",
                  traced.seconds(), traced.work, traced.exposed, traced.bubble, told.seconds(),
                  told.work, told.exposed, told.bubble));
  if (what_if.empty()) {
    return static_cast<int>(ExitCode::success);
  }
  change(machine, stack, run, what_if);
  const TracedStep other = parts_as_traced(plan::step_time({machine, stack, plan::make_job(run)}));
  const double work = ratio(traced.work, told.work), waits = ratio(traced.exposed, told.exposed);
  const TracedStep expected{
      .work = work * other.work, .exposed = waits * other.exposed, .bubble = work * other.bubble};
  log::print(fmt::format(
      "{}: {:.4f} s = work {:.4f} + waits for communication {:.4f} + for the pipeline {:.4f} ({}; "
      "work {:.2f} and waits {:.2f} times the model's, as in the traces)",
      what_if, expected.seconds(), expected.work, expected.exposed, expected.bubble,
      plan::to_text(run), work, waits));
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
