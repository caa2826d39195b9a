#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::cli {

/// An answer as it is written, and what its prompt has lost where that was scored.
struct FinishedAnswer {
  std::string line;  // JSON, with its newline; empty: not finished
  double loss = 0;   // the sum over `tokens`
  Index tokens = 0;
};

/// The answers of an offline batch as they finish. Each is appended at once to OUTPUT.part, so that
/// a run that is killed goes on where it was; OUTPUT has them in the order of their prompts.
class AnswerJournal {
 public:
  /// Digests of all that the answers depend on.
  struct Origin {
    std::string requests, model;
  };

  /// Reads what an earlier run of the same origin has left; a line that it could not finish is
  /// dropped. Without `output`, or where that is a pipe or a device, answers are only kept.
  /// Error(usage) for another origin, Error(data) where OUTPUT.part is no journal or another run
  /// writes it.
  AnswerJournal(std::filesystem::path output, const Origin& origin, std::size_t prompts);
  ~AnswerJournal();
  AnswerJournal(const AnswerJournal&) = delete;
  AnswerJournal& operator=(const AnswerJournal&) = delete;

  bool has(std::size_t prompt) const { return !answers_[prompt].line.empty(); }
  void add(std::size_t prompt, FinishedAnswer answer);
  const std::vector<FinishedAnswer>& answers() const { return answers_; }

  /// Makes OUTPUT of all answers, and removes the journal.
  void finish();

 private:
  AnswerJournal(std::filesystem::path output, std::size_t prompts)
      : output_(std::move(output)), path_(output_.string() + ".part"), answers_(prompts) {}
  void open();
  void read(const Origin& origin);
  void take(std::string_view record);
  void append(const std::string& text);

  std::filesystem::path output_, path_;
  int descriptor_ = -1;
  std::vector<FinishedAnswer> answers_;
};

}  // namespace mpitron::cli
