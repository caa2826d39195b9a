#include "convert/checkpoint_folder.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "checkpoint/posix_file.h"
#include "utils/error.h"
#include "utils/files.h"

namespace mpitron::convert {
namespace {

namespace fs = std::filesystem;

constexpr const char *kTracker = "latest_checkpointed_iteration.txt", *kRelease = "release",
                     *kPrefix = "iter_";

std::string name_of(Index iteration) {
  return iteration < 0 ? kRelease : fmt::format("{}{:07}", kPrefix, iteration);
}

/// -1 for anything but a natural number.
Index natural(std::string_view text) {
  Index value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc{} && end == text.data() + text.size() && !text.empty();
  return all && text[0] != '-' ? value : -1;
}

}  // namespace

bool has_tracker(const fs::path& root) {
  return fs::is_regular_file(root / kTracker);
}

fs::path iteration_folder(const fs::path& root) {
  if (!has_tracker(root)) {
    return root;
  }
  std::string text = read_file(root / kTracker);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) {
    text.pop_back();
  }
  const Index iteration = natural(text);
  if (text != kRelease && iteration < 0) {
    throw_data("{}: expected an iteration or 'release', found '{}'", (root / kTracker).string(),
               text.substr(0, 40));
  }
  return root / name_of(iteration);
}

Index iteration_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with(kPrefix) ? natural(name.substr(std::string_view(kPrefix).size())) : -1;
}

NewIteration::NewIteration(const fs::path& root, Index iteration)
    : root_(root),
      name_(name_of(iteration)),
      tracked_(iteration < 0 ? kRelease : std::to_string(iteration)) {
  if (fs::exists(root_ / name_)) {
    throw_data("--to {}: {} is there already; give another folder", root.string(), name_);
  }
  std::error_code error;
  fs::remove_all(unfinished(), error);
  fs::create_directories(unfinished(), error);
  if (error) {
    throw_data("--to {}: cannot make {}: {}", root.string(), unfinished().string(),
               error.message());
  }
}

fs::path NewIteration::commit() const {
  std::error_code error;
  fs::rename(unfinished(), root_ / name_, error);
  if (error) {
    throw_data("{}: cannot rename it to {}: {}", unfinished().string(), name_, error.message());
  }
  checkpoint::sync_folder(root_);
  AtomicFile tracker(root_ / kTracker);
  tracker.write(tracked_);
  tracker.commit();
  return root_ / name_;
}

}  // namespace mpitron::convert
