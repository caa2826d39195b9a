#include "train/run/run_record.h"

#include <utility>

#include "utils/log.h"

namespace mpitron::train {

RunRecord::RunRecord(std::optional<std::filesystem::path> folder, Index rank)
    : folder_(std::move(folder)), rank_(rank) {}

void RunRecord::begin(Index iteration, Index consumed_train_samples, std::optional<Index> saved) {
  begun_ = true;
  state_ = {.iteration = iteration,
            .consumed_train_samples = consumed_train_samples,
            .saved_iteration = saved};
  if (rank_ == 0) {
    write();
  }
}

void RunRecord::reached(Index iteration, Index consumed_train_samples, std::optional<Index> saved) {
  state_.iteration = iteration;
  state_.consumed_train_samples = consumed_train_samples;
  if (std::exchange(state_.saved_iteration, saved) != saved && rank_ == 0) {
    write();
  }
}

void RunRecord::end(ExitCode code, const std::string& reason) {
  state_.status = run_status(code);
  state_.exit_code = static_cast<int>(code);
  state_.reason = reason;
  if (begun_ && rank_ == 0) {
    write();
  }
}

void RunRecord::fail(const std::exception& error) {
  const auto* const known = dynamic_cast<const Error*>(&error);
  const ExitCode code = known != nullptr ? known->code() : ExitCode::failure;
  state_.status = run_status(code);
  state_.exit_code = static_cast<int>(code);
  state_.reason = error.what();
  if (begun_ && (rank_ == 0 || known == nullptr || !known->on_all_ranks())) {
    write();
  }
}

void RunRecord::write() const {
  if (!folder_) {
    return;
  }
  try {
    write_run_state(*folder_, state_);
  } catch (const Error& error) {
    log::warning("{}", error.what());
  }
}

}  // namespace mpitron::train
