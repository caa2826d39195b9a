#include "train/loop/skip_iterations.h"

#include <algorithm>
#include <charconv>

#include "checkpoint/plan/agreement.h"
#include "train/reruns/result_judge.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

/// Bounds a range: a longer one is a slip of the pen, and would fill the memory.
constexpr Index kLongestRange = 1'000'000;

[[noreturn]] void refuse(std::string_view word) {
  throw_usage(
      "--iterations-to-skip '{}' is no iteration: give numbers from 1, lists (3,5) or "
      "ranges (100-103, at most {} long)",
      word, kLongestRange);
}

Index number(std::string_view text, std::string_view word) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) {
    refuse(word);
  }
  return value;
}

/// Appends the iterations of "7" or of "100-103".
void append_range(std::vector<Index>& iterations, std::string_view part, std::string_view word) {
  const std::size_t dash = part.find('-');
  const Index first = number(part.substr(0, dash), word);
  const Index last = dash == std::string_view::npos ? first : number(part.substr(dash + 1), word);
  if (last < first || last - first >= kLongestRange) {
    refuse(word);
  }
  for (Index iteration = first; iteration <= last; ++iteration) {
    iterations.push_back(iteration);
  }
}

}  // namespace

SkipIterations::SkipIterations(std::span<const Index> iterations)
    : iterations_(iterations.begin(), iterations.end()) {
  std::sort(iterations_.begin(), iterations_.end());
  if (!iterations_.empty() && iterations_.front() < 1) {
    throw_usage("--iterations-to-skip {}: iterations count from 1", iterations_.front());
  }
}

bool SkipIterations::contains(Index iteration) const {
  return std::binary_search(iterations_.begin(), iterations_.end(), iteration);
}

/// Parses words that may be lists themselves: "3,5" "100-103".
std::vector<Index> parse_iterations(std::span<const std::string_view> words) {
  std::vector<Index> iterations;
  for (const std::string_view word : words) {
    std::string_view rest = word;
    while (true) {
      const std::size_t comma = rest.find(',');
      append_range(iterations, rest.substr(0, comma), word);
      if (comma == std::string_view::npos) {
        break;
      }
      rest.remove_prefix(comma + 1);
    }
  }
  return iterations;
}

/// Reads the file of rejected iterations on rank 0 alone and tells the others, so that all skip the
/// same ones even where the file is not on a shared disk.
SkipIterations skipped_iterations(comm::World& world, const config::TrainingConfig& training) {
  std::vector<Index> skipped = training.iterations_to_skip;
  if (training.result_rejected_tracker_filename) {
    const std::shared_ptr<comm::Group> all = world.all();
    std::string words;
    checkpoint::on_member_0(*all, [&] {
      for (const Index iteration :
           rejected_iterations(*training.result_rejected_tracker_filename)) {
        words += fmt::format("{}{}", words.empty() ? "" : ",", iteration);
      }
    });
    words = checkpoint::broadcast_text(*all, words, 0);
    if (!words.empty()) {
      log::print(fmt::format(" skipping iterations that were rejected twice: {}", words));
      const std::string_view word = words;
      const std::vector<Index> rejected = parse_iterations({&word, 1});
      skipped.insert(skipped.end(), rejected.begin(), rejected.end());
    }
  }
  return SkipIterations(skipped);
}

}  // namespace mpitron::train
