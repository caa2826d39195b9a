#include "train/run/run_record.h"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "io/logs/json_text.h"
#include "train/model/flops.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace {

// EX_TEMPFAIL of sysexits.h: a hang, suspected hardware.
constexpr int kTemporaryFailure = 75;

}  // namespace

RunStateKeeper::RunStateKeeper(std::optional<std::filesystem::path> folder, Index rank,
                               const std::optional<std::string>& metrics)
    : folder_(std::move(folder)),
      rank_(rank),
      metrics_(metrics ? std::filesystem::absolute(*metrics).string() : "") {}

void RunStateKeeper::begin(Index iteration, Index consumed_train_samples,
                           std::optional<Index> saved) {
  begun_ = true;
  state_ = {.iteration = iteration,
            .consumed_train_samples = consumed_train_samples,
            .saved_iteration = saved,
            .metrics = metrics_};
  if (rank_ == 0) {
    write();
  }
}

void RunStateKeeper::reached(Index iteration, Index consumed_train_samples,
                             std::optional<Index> saved) {
  state_.iteration = iteration;
  state_.consumed_train_samples = consumed_train_samples;
  if (std::exchange(state_.saved_iteration, saved) != saved && rank_ == 0) {
    write();
  }
}

void RunStateKeeper::end(ExitCode code, const std::string& reason) {
  state_.status = run_status(code);
  state_.exit_code = static_cast<int>(code);
  state_.reason = reason;
  if (begun_ && rank_ == 0) {
    write();
  }
}

void RunStateKeeper::fail(const std::exception& error) {
  const auto* const known = dynamic_cast<const Error*>(&error);
  const ExitCode code = known != nullptr ? known->code() : ExitCode::failure;
  state_.status = run_status(code);
  state_.exit_code = static_cast<int>(code);
  state_.reason = error.what();
  if (begun_ && (rank_ == 0 || known == nullptr || !known->on_all_ranks())) {
    write();
  }
}

void RunStateKeeper::write() const {
  if (!folder_) {
    return;
  }
  try {
    write_run_state(*folder_, state_);
  } catch (const Error& error) {
    log::warning("{}", error.what());
  }
}

/// Words that jobs/supervise.sh knows.
std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::running:
      return "running";
    case RunStatus::finished:
      return "finished";
    case RunStatus::preempted:
      return "preempted";
    case RunStatus::failed_retryable:
      return "failed-retryable";
    case RunStatus::failed_fatal:
      break;
  }
  return "failed-fatal";
}

/// Maps an exit code to a status, from which alone a supervisor decides what to do next.
RunStatus run_status(ExitCode code) {
  switch (code) {
    case ExitCode::success:
      return RunStatus::finished;
    case ExitCode::interrupted:
    case ExitCode::interrupted_unsaved:
      return RunStatus::preempted;
    case ExitCode::environment:
    case ExitCode::resume_to_disambiguate:
      return RunStatus::failed_retryable;
    default:
      return static_cast<int>(code) == kTemporaryFailure ? RunStatus::failed_retryable
                                                         : RunStatus::failed_fatal;
  }
}

/// Written beside its place and renamed, so that a reader finds a whole file at any time.
void write_run_state(const std::filesystem::path& folder, const RunState& state) {
  const std::string saved =
      state.saved_iteration ? fmt::format("{}", *state.saved_iteration) : "null";
  AtomicFile file(folder / "run_state.json");
  file.write(fmt::format(
      "{{\n  \"state\": {},\n  \"iteration\": {},\n"
      "  \"consumed_train_samples\": {},\n  \"saved_iteration\": {},\n"
      "  \"exit_code\": {},\n  \"reason\": {},\n  \"metrics\": {}\n}}\n",
      io::json_string(to_string(state.status)), state.iteration, state.consumed_train_samples,
      saved, state.exit_code, io::json_string(state.reason), io::json_string(state.metrics)));
  file.commit();
}

namespace {

using Json = nlohmann::ordered_json;

Json layout(const config::ParallelConfig& p) {
  return {{"tensor", p.tensor_model_parallel_size},
          {"pipeline", p.pipeline_model_parallel_size},
          {"context", p.context_parallel_size},
          {"expert", p.expert_model_parallel_size},
          {"data", p.data_parallel_size}};
}

Json options(const std::string& text) {
  return text.empty() ? Json::object() : Json::parse(text);
}

}  // namespace

/// run.json beside the metrics: what a report says of a run without its log.
void write_run_description(const std::filesystem::path& folder, const config::RunConfig& config,
                           const RunIdentity& identity) {
  const config::TrainingConfig& training = config.training;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Json json = {
      {"started", std::chrono::duration<double>(now).count()},
      {"build", identity.build},
      {"world_size", config.parallel.world_size},
      {"layout", layout(config.parallel)},
      {"train_iters", training.train_iters},
      {"seq_length", training.seq_length},
      {"global_batch_size", training.global_batch_size},
      {"flops_per_sample", flops_per_iteration(config.model, 1)},
      {"given", options(identity.given)},
      {"options", options(identity.configuration)},
  };
  if (config.checkpoint.save) {
    json["save"] = std::filesystem::absolute(*config.checkpoint.save).string();
  }
  make_folder("--tensorboard-dir", folder);
  AtomicFile file(folder / "run.json");
  file.write(json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
  file.commit();
}

}  // namespace mpitron::train
