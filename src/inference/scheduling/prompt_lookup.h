#pragma once
#include "inference/scheduling/sequence.h"

namespace mpitron::inference {

/// Drafts by prompt lookup: an answer often repeats what stands in its prompt or what it has said
/// (Saxena 2023). Where the last tokens stand earlier in the text, those behind them are drafts.
/// Drafts never change a text, only the number of steps.
class PromptLookup {
 public:
  struct Settings {
    Index least_match = 2;  // tokens that must repeat before something is drafted
    Index most_match = 4;   // more than these are not compared
    Index most = 8;         // tokens of a draft
    Index longest_wait = 64;
  };
  explicit PromptLookup(const Settings& settings) : settings_(settings) {}

  /// Appends at most `most` drafts to the tokens of a sequence; how many. None for some steps after
  /// drafts of which nothing was drawn, so that a text without repetition costs next to nothing.
  Index propose(Sequence& sequence, Index most) const;
  /// `drawn` of the drafts that were proposed last were drawn.
  void learn(DraftHistory& history, Index proposed, Index drawn) const;

 private:
  Settings settings_;
};

}  // namespace mpitron::inference
