#include "train/run/run_record.h"

#include <utility>

#include "io/logs/json_text.h"
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

/// What a supervisor does next follows from the status alone.
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

}  // namespace mpitron::train
