#include "train/run_state.h"

#include "io/json_text.h"
#include "utils/files.h"

namespace mpitron::train {
namespace {

constexpr int kTemporaryFailure = 75;  // EX_TEMPFAIL of sysexits.h: a hang, suspected hardware

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
  if (code == ExitCode::success) {
    return RunStatus::finished;
  }
  if (code == ExitCode::interrupted || code == ExitCode::interrupted_unsaved) {
    return RunStatus::preempted;
  }
  return static_cast<int>(code) == kTemporaryFailure ? RunStatus::failed_retryable
                                                     : RunStatus::failed_fatal;
}

void write_run_state(const std::filesystem::path& folder, const RunState& state) {
  const std::string saved =
      state.saved_iteration ? fmt::format("{}", *state.saved_iteration) : "null";
  AtomicFile file(folder / "run_state.json");
  file.write(fmt::format(
      "{{\n  \"state\": {},\n  \"iteration\": {},\n"
      "  \"consumed_train_samples\": {},\n  \"saved_iteration\": {},\n"
      "  \"exit_code\": {},\n  \"message\": {}\n}}\n",
      io::json_string(to_string(state.status)), state.iteration, state.consumed_train_samples,
      saved, state.exit_code, io::json_string(state.message)));
  file.commit();
}

}  // namespace mpitron::train
