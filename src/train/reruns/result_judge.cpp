// Judges results over restarts: what one run rejected and could not decide is handed to the next
// one in a file, which computes it on other machines.
#include "train/reruns/result_judge.h"

#include <cmath>
#include <cstdlib>

#include "checkpoint/plan/agreement.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/system/machine.h"

namespace mpitron::train {
namespace {

/// Slurm's nodes of this job, else the first rank's machine.
std::string own_machines() {
  const char* nodes = std::getenv("SLURM_JOB_NODELIST");
  return nodes != nullptr ? nodes : host_name();
}

RerunEngine::Options engine_options(comm::World& world, const config::RunConfig& config) {
  return {.mode = config.training.rerun_mode,
          .error_injection_rate = config.training.error_injection_rate,
          .error_injection_type = config.training.error_injection_type,
          .seed = config.training.seed,
          .can_save = config.checkpoint.save.has_value(),
          .machines = checkpoint::broadcast_text(*world.all(), own_machines(), 0)};
}

}  // namespace

/// Reads the result that an earlier run handed over: rank 0 reads the file and tells the others.
ResultJudge::ResultJudge(comm::World& world, const config::RunConfig& config)
    : rank_(world.rank()),
      log_interval_(config.logging.log_interval),
      check_not_finite_(config.training.check_for_nan_in_loss_and_grad),
      tracker_(config.training.result_rejected_tracker_filename),
      checks_(config.training),
      engine_(engine_options(world, config)) {
  if (!config.checkpoint.save) {
    return;
  }
  handed_over_ = std::filesystem::path(*config.checkpoint.save) / "rejected_result.json";
  const comm::GroupHandle all = world.all();
  std::string text;
  checkpoint::on_member_0(*all, [&] {
    if (std::filesystem::exists(*handed_over_)) {
      text = read_file(*handed_over_);
    }
  });
  text = checkpoint::broadcast_text(*all, text, 0);
  if (!text.empty()) {
    engine_.expect(pending_result(text, handed_over_->string()));
  }
}

/// Losses and norms are the same on all ranks, and so are decisions; rank 0 writes.
RerunDecision ResultJudge::operator()(Index iteration, const StepReport& report) {
  const double loss = report.loss(), norm = report.grad_norm;
  Results results{Result{"loss", loss}, Result{"gradient norm", norm}};
  // An overflow under a loss scale skips the update (and lowers a dynamic scale): no error.
  if (!engine_.rerunning() && (check_not_finite_ || std::isfinite(norm))) {
    results = checks_(loss, norm);
  }
  const bool expected = engine_.expecting();
  const RerunDecision decision = engine_.judge(iteration, results);
  const std::string statistics =
      !decision.again && iteration % log_interval_ == 0 ? engine_.take_statistics() : std::string();
  if (rank_ != 0) {
    return decision;
  }
  note(iteration, decision);
  if (!statistics.empty()) {
    log::print(fmt::format(" rerun statistics to iteration {}: {}", iteration, statistics));
  }
  if (expected && !engine_.expecting()) {
    std::filesystem::remove(*handed_over_);
  }
  return decision;
}

/// Notes a decision in the log, and in the file of --result-rejected-tracker-filename.
void ResultJudge::note(Index iteration, const RerunDecision& decision) const {
  if (tracker_ && !decision.status.empty()) {
    record_rejection(*tracker_, {.status = decision.status,
                                 .rank = rank_,
                                 .iteration = iteration,
                                 .result = decision.result,
                                 .message = decision.message});
  }
  if (!decision.message.empty() && !decision.exit) {
    log::warning("{}", decision.message);
  }
}

void ResultJudge::hand_over(const RerunDecision& decision) const {
  if (rank_ == 0 && decision.pending) {
    AtomicFile file(*handed_over_);
    file.write(to_json(*decision.pending));
    file.commit();
  }
}

}  // namespace mpitron::train
