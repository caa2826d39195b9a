#include "data/preprocess/preprocess_output.h"

#include <unistd.h>

#include "utils/error.h"
#include "utils/log.h"

// Files and journal of `mpitron preprocess`. An entry of the journal says how far the input has
// been read and how long each part was then; a run that goes on cuts the parts to these lengths.

namespace mpitron::data {
namespace {

/// Returns the counters of a report that a journal keeps.
std::vector<Index*> counters(PreprocessReport& report) {
  return {&report.documents, &report.empty_documents, &report.blank_lines,
          &report.bad_lines, &report.tokens,          &report.bytes};
}

/// An entry: position in the input (file, offset, line, documents), counters of the report, then
/// tokens, sequences and documents of each part.
constexpr std::size_t kPositionNumbers = 4;

}  // namespace

/// Locks the outputs first, since a journal of a run that is still writing must not be read. Parts
/// are ordered by lane, then by key; the first lane's become the result.
PreprocessOutput::PreprocessOutput(const PreprocessOptions& options, io::TokenType type,
                                   const std::string& identity, PreprocessReport& report)
    : report_(report), keys_(std::ssize(report.prefixes)), bytes_per_entry_(options.journal_bytes) {
  for (const std::string& prefix : report.prefixes) {
    locks_.emplace_back(prefix);
  }
  std::vector<std::string> names;
  for (Index partition = 0; partition < options.lanes(); ++partition) {
    for (const std::string& prefix : report.prefixes) {
      names.push_back(partition == 0 ? prefix : fmt::format("{}.{}", prefix, partition));
    }
  }
  std::vector<io::TokenExtent> extents(names.size());
  if (!identity.empty()) {
    journal_.emplace(report.prefixes.front() + ".journal", identity);
    read_journal(names, type, extents);
  }
  at_ = start_;
  next_entry_ = report_.bytes + bytes_per_entry_;
  for (std::size_t i = 0; i < names.size(); ++i) {
    parts_.emplace_back(names[i], type, extents[i]);
  }
}

/// Sets where to go on. Another run's journal, or parts that are not as it says, mean a new
/// beginning, with a warning.
void PreprocessOutput::read_journal(const std::vector<std::string>& names, io::TokenType type,
                                    std::vector<io::TokenExtent>& extents) {
  const std::string& name = report_.prefixes.front();
  if (journal_->foreign()) {
    log::warning("{}.journal: left by a run with other options or inputs; beginning anew", name);
    return;
  }
  if (!go_on(journal_->last(), extents)) {
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!io::TokenFileParts::exist(names[i], type, extents[i])) {
      log::warning("{}: the .part files of an earlier run are gone; beginning anew", names[i]);
      journal_->forget();
      extents.assign(names.size(), {});
      start_ = {};
      for (Index* counter : counters(report_)) {
        *counter = 0;
      }
      return;
    }
  }
  log::info("going on behind {} documents of an earlier run", start_.documents);
}

/// Takes an entry apart; one of another length (another number of lanes) is forgotten.
bool PreprocessOutput::go_on(const std::vector<Index>& entry,
                             std::vector<io::TokenExtent>& extents) {
  const std::vector<Index*> numbers = counters(report_);
  if (entry.size() != kPositionNumbers + numbers.size() + 3 * extents.size()) {
    journal_->forget();
    return false;
  }
  start_ = {entry[0], entry[1], entry[2], entry[3]};
  const Index* at = entry.data() + kPositionNumbers;
  for (Index* number : numbers) {
    *number = *at++;
  }
  for (io::TokenExtent& extent : extents) {
    extent = {at[0], at[1], at[2]};
    at += 3;
  }
  return true;
}

/// Parts reach the disk before the entry that counts on them.
void PreprocessOutput::add_entry() {
  std::vector<Index> entry = {at_.file, at_.offset, at_.line, at_.documents};
  for (const Index* counter : counters(report_)) {
    entry.push_back(*counter);
  }
  for (io::TokenFileParts& part : parts_) {
    part.sync();
    const io::TokenExtent& extent = part.extent();
    entry.insert(entry.end(), {extent.tokens, extent.sequences, extent.documents});
  }
  journal_->add(entry);
  next_entry_ = report_.bytes + bytes_per_entry_;
}

/// Appends a block to each part. While it does, `whole_` is false: an entry would count on half a
/// block.
void PreprocessOutput::write(const std::vector<io::TokenBlock>& blocks, const InputPosition& end) {
  whole_ = false;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].append(blocks[i]);
    report_.tokens += blocks[i].token_count();
    report_.empty_documents += blocks[i].empty_document_count();
  }
  at_ = end;
  whole_ = true;
  if (journal_ && report_.bytes >= next_entry_) {
    add_entry();
  }
}

/// Appends the parts of all lanes to those of the first, which get their final names; the journal
/// goes last.
void PreprocessOutput::commit() {
  const auto keys = static_cast<std::size_t>(keys_);
  for (std::size_t i = keys; i < parts_.size(); ++i) {
    parts_[i % keys].append(parts_[i]);
  }
  for (std::size_t key = 0; key < keys; ++key) {
    parts_[key].commit();
  }
  for (std::size_t i = keys; i < parts_.size(); ++i) {
    parts_[i].discard();
  }
  if (journal_) {
    journal_->remove();
  }
}

/// A last entry saves the work since the one before, unless a write has failed halfway.
bool PreprocessOutput::abandon() {
  if (journal_ && !journal_->last().empty()) {
    try {
      whole_ ? add_entry() : void();
    } catch (const Error&) {
      return true;  // a full disk: the entry before counts
    }
    return true;
  }
  for (io::TokenFileParts& part : parts_) {
    part.discard();
  }
  return false;
}

}  // namespace mpitron::data
