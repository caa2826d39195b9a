#include "train/run/trigger_files.h"

#include <system_error>
#include <utility>

namespace mpitron::train {

TriggerFiles::TriggerFiles(std::optional<std::filesystem::path> folder,
                           std::optional<Index> autoresume_interval)
    : folder_(std::move(folder)), autoresume_interval_(autoresume_interval) {}

bool TriggerFiles::taken(const char* name) const {
  std::error_code ignored;
  return std::filesystem::remove(*folder_ / name, ignored);
}

/// A file is taken once: it is removed before it is obeyed.
Trigger TriggerFiles::take(Index iteration) const {
  if (!folder_) {
    return Trigger::none;
  }
  Trigger trigger = taken("SAVE") ? Trigger::save : Trigger::none;
  if (autoresume_interval_ && iteration % *autoresume_interval_ == 0 && taken("REQUEUE")) {
    trigger = Trigger::resume_later;
  }
  return taken("STOP") ? Trigger::stop : trigger;
}

}  // namespace mpitron::train
