#pragma once
#include "inference/scheduling/sequence.h"

namespace mpitron::inference {

/// Drafts by prompt lookup: an answer often repeats what stands in its prompt or what it has said
/// (Saxena 2023). Where the last tokens stand earlier in the text, those behind them are drafts.
class PromptLookup {
 public:
  struct Settings {
    Index least_match = 2;  // tokens that must repeat before something is drafted
    Index most_match = 4;   // more than these are not compared
  };
  PromptLookup() = default;
  explicit PromptLookup(const Settings& settings) : settings_(settings) {}

  /// Appends at most `most` drafts to the tokens of a sequence that has none; how many.
  Index propose(Sequence& sequence, Index most) const;

 private:
  Settings settings_;
};

}  // namespace mpitron::inference
