#include "train/run/run_state.h"

#include "io/json_text.h"
#include "utils/files.h"

namespace mpitron::train {
namespace {

// EX_TEMPFAIL of sysexits.h: a hang, suspected hardware.
constexpr int kTemporaryFailure = 75;

}  // namespace

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

void write_run_state(const std::filesystem::path& folder, const RunState& state) {
  const std::string saved =
      state.saved_iteration ? fmt::format("{}", *state.saved_iteration) : "null";
  AtomicFile file(folder / "run_state.json");
  file.write(fmt::format(
      "{{\n  \"state\": {},\n  \"iteration\": {},\n"
      "  \"consumed_train_samples\": {},\n  \"saved_iteration\": {},\n"
      "  \"exit_code\": {},\n  \"reason\": {}\n}}\n",
      io::json_string(to_string(state.status)), state.iteration, state.consumed_train_samples,
      saved, state.exit_code, io::json_string(state.reason)));
  file.commit();
}

}  // namespace mpitron::train
