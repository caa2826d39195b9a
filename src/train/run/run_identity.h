#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/format/file.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// Identity of the run that wrote a file, as its files tell it.
struct RunIdentity {
  std::string configuration;  // JSON of all options (config::values_json)
  std::string build;          // fingerprint of the program: version, commit, compiler
  std::map<std::string, std::string> files = {};  // the tokenizer's, by name
  Index vocabulary = 0;                           // tokens that it knows; 0: not told
  bool accepts_changes = false;                   // --accept-changes
  std::string given = "{}";  // JSON of the options that the user gave, for reports
  // Names and values of all options (config::display_values), for TensorBoard.
  std::vector<std::pair<std::string, std::string>> arguments = {};
};

/// Position of a run, as far as a checkpoint keeps it.
struct RunPosition {
  Index iteration = 0;  // updates made
  /// Over all replicas; where the next run goes on in its data.
  Index consumed_train_samples = 0;
  /// Samples of all validations so far.
  Index consumed_valid_samples = 0;

  bool operator==(const RunPosition&) const = default;
};

/// Notes the position in a checkpoint's header.
void set_position(checkpoint::Header& header, const RunPosition& position);
/// Reads the position in a header; converted models say nothing of validation.
RunPosition position_of(const checkpoint::Header& header);

}  // namespace mpitron::train
