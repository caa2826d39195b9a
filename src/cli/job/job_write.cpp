#include <filesystem>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/job/batch_script.h"
#include "cli/program.h"
#include "config/parse/parse.h"
#include "config/values/option_help.h"
#include "utils/error.h"
#include "utils/log.h"
#include "utils/system/files.h"

// `mpitron job write`: parses the flags of a training as the training will, checks them against the
// cluster, and writes the script. A mistake in the flags is thus told before the job waits in a
// queue.

namespace mpitron::cli {
namespace {

constexpr const char* kHelp =
    "usage: mpitron job write --cluster NAME --world-size N FLAGS\n\n"
    "Writes the sbatch script of a training run: nodes, GPUs and cores by the cluster's file and "
    "the\n"
    "number of ranks, and the flags, which are checked first. FLAGS are those of the training;\n"
    "--save is one of them, because a job must be able to go on.\n\n"
    "  --cluster NAME      jobs/clusters/NAME.sh, or a path; default: generic\n"
    "  --ranks-per-node N  default: the cluster's gpus_per_node\n"
    "  --output FILE       where the script goes; default: to the screen\n"
    "  --job-name NAME     default: the last part of --save\n"
    "  --time LIMIT        default: the cluster's time_limit, else 24:00:00\n"
    "  --home DIR          the folder that holds jobs/; default: here, else what was installed\n";

/// Flags of this command, taken out of those of the training.
struct JobFlags {
  std::string cluster, output, name, time, home;
};

std::string default_home() {
  const auto shared = installed("jobs/clusters");
  return shared && !std::filesystem::exists("jobs/clusters")
             ? shared->parent_path().parent_path().string()
             : ".";
}

/// Takes the command's own options out of `flags`.
JobFlags take_wishes(Arguments& flags) {
  const auto take = [&](const char* flag, const std::string& otherwise) {
    return take_value(flags, flag).value_or(otherwise);
  };
  return {.cluster = take("--cluster", "generic"),
          .output = take("--output", ""),
          .name = take("--job-name", ""),
          .time = take("--time", ""),
          .home = take("--home", default_home())};
}

std::string layout_of(const config::ParallelConfig& p) {
  return fmt::format("{} tensor x {} context x {} data x {} pipeline", p.tensor_model_parallel_size,
                     p.context_parallel_size, p.data_parallel_size, p.pipeline_model_parallel_size);
}

/// The last part of a path, also of one that ends in a slash.
std::string last_part(const std::filesystem::path& path) {
  const std::string last = (path / "").parent_path().filename();
  return last.empty() ? "mpitron" : last;
}

}  // namespace

int job_write(const Arguments& arguments) {
  if (const auto help = config::requested_help(arguments)) {
    log::print(kHelp + std::string("\n") + *help);
    return static_cast<int>(ExitCode::success);
  }
  Arguments flags = arguments;
  const JobFlags wishes = take_wishes(flags);
  const std::filesystem::path file = find_cluster(wishes.cluster, wishes.home);
  const Cluster cluster = read_cluster(file);
  const bool own_ranks = config::parse_run(flags).values.given("ranks_per_node");
  if (!own_ranks && cluster.gpus_per_node < 1) {
    throw_usage("--ranks-per-node is missing, and {} names no gpus_per_node", file.string());
  }
  if (!own_ranks) {
    flags.insert(flags.end(), {"--ranks-per-node", std::to_string(cluster.gpus_per_node)});
  }
  const config::ParsedRun parsed = config::parse_valid_run(flags);
  const config::OptionValues& values = parsed.values;
  if (!parsed.run.checkpoint.save) {
    throw_usage("--save DIR is missing: a job that is stopped goes on from its checkpoints");
  }
  const Index ranks_per_node = values.integer("ranks_per_node");
  take_value(flags, "--world-size");      // a run knows its ranks,
  take_value(flags, "--ranks-per-node");  // and Slurm where they are
  const bool is_path = wishes.cluster.find('/') != std::string::npos;
  const BatchJob job{
      .name = wishes.name.empty() ? last_part(*parsed.run.checkpoint.save) : wishes.name,
      .command = "pretrain-" + values.text("model"),
      .flags = flags,
      .layout = layout_of(parsed.run.parallel),
      .ranks = parsed.run.parallel.world_size,
      .ranks_per_node = ranks_per_node,
      .on_gpus = cluster.gpus_per_node > 0 && !values.given("device"),
      .cluster = is_path ? std::filesystem::absolute(file).string() : wishes.cluster,
      .home = std::filesystem::canonical(wishes.home).string(),
      .time_limit = wishes.time.empty() ? cluster.time_limit : wishes.time};
  check_fits(job, cluster);
  const std::string script = batch_script(job, cluster);
  if (wishes.output.empty()) {
    log::print(script);
  } else {
    AtomicFile written(wishes.output);
    written.write(script);
    written.commit();
    log::print(fmt::format("{}: {} nodes of {} ranks; submit it with: sbatch {}", wishes.output,
                           job.nodes(), ranks_per_node, shell_word(wishes.output)));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
