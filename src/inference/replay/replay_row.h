#pragma once
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "inference/engine_interface.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

/// A kind of recorded cases, answered again.
struct ReplayRow {
  std::string of;    // the model, or the file
  std::string what;  // greedy, batch, score, ...
  Index cases = 0;
  Index agreed = 0;    // the ids, texts or counts are the recorded ones
  double largest = 0;  // distance of a value from the recorded one
  double allowed = 0;

  /// Counts one more case.
  void count(bool agrees) {
    ++cases;
    agreed += agrees ? 1 : 0;
  }
  /// Notes how far a value is from the recorded one; NaN is infinitely far.
  void compare(double got, double recorded) {
    const double distance = std::abs(got - recorded);
    largest = std::max(largest, std::isnan(distance) ? HUGE_VAL : distance);
  }
  bool pass() const { return cases > 0 && agreed == cases && largest <= allowed; }
};

/// Bound of differences of log-probabilities: rounding of fp32 in another order.
inline constexpr double kLogProbTolerance = 2e-5;

/// Reads a recorded file; Error(data) where it is no JSON.
nlohmann::json recorded_json(const std::filesystem::path& path);

/// Reads the flags and the padded vocabulary of a recorded model. Error(data) for another file.
struct RecordedFlags {
  explicit RecordedFlags(const std::filesystem::path& config);
  std::vector<std::string> flags;
  Index padded_vocabulary = 0;
  Index length = 0;  // positions
};

/// Answers generation.json and beam.json of a model's folder: greedy answers, the same in one
/// batch, scores of documents, beams.
std::vector<ReplayRow> replay_model(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                    const std::filesystem::path& folder);

/// Answers the model's requests of dynamic.json, all at once; no row where it has none.
std::vector<ReplayRow> replay_dynamic(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                      const std::filesystem::path& file, const std::string& model);

/// Compares rules that need no model: sampling.json, draws.json, batching_traces.json,
/// batching_sizes.json, chat.json of a folder, as far as they are there.
std::vector<ReplayRow> replay_rules(const std::filesystem::path& folder);

/// Asks the router what api.json records of the reference's server over the recorded model.
/// Requests that it accepts or ignores and this program refuses or honours on purpose (true for 1,
/// add_BOS, stop_on_eol) are left out.
std::vector<ReplayRow> replay_api(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                  const std::filesystem::path& file);

}  // namespace mpitron::inference
