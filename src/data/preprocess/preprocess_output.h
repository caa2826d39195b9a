#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/preprocess/document_reader.h"
#include "data/preprocess/journal.h"
#include "data/preprocess/preprocess.h"
#include "io/tokens/token_block.h"
#include "io/tokens/token_file_parts.h"

namespace mpitron::data {

/// A lock on output files: holds `path + ".lock"` while files of that name are written, so that two
/// runs cannot mix. The file goes away at the end; one left by a killed run is no obstacle.
class OutputLock {
 public:
  /// Error(data) when another process holds it or the folder cannot be written.
  explicit OutputLock(const std::string& path);
  ~OutputLock();
  OutputLock(OutputLock&& other) noexcept;
  OutputLock& operator=(OutputLock&&) = delete;

 private:
  std::string file_;
  int descriptor_ = -1;
};

/// The output of `preprocess`: for each key the parts of a corpus (for each partition one), and the
/// journal from which a killed run goes on. Without an entry of the journal an abandoned run leaves
/// nothing; with one it leaves the journal and the parts.
class PreprocessOutput {
 public:
  /// `identity`: of options, inputs and tokenizer; empty where the input cannot be read again.
  /// `report`: filled with what an earlier run has done.
  PreprocessOutput(const PreprocessOptions& options, io::TokenType type,
                   const std::string& identity, PreprocessReport& report);

  /// Returns where reading begins.
  const InputPosition& start() const { return start_; }

  /// Appends the documents of one batch. `blocks`: [partition, key]; `end`: behind them in the
  /// input.
  void write(const std::vector<io::TokenBlock>& blocks, const InputPosition& end);
  /// Joins the partitions and makes the files.
  void commit();
  /// Ends without the files. Returns whether the next run can go on.
  bool abandon();

 private:
  void read_journal(const std::vector<std::string>& names, io::TokenType type,
                    std::vector<io::TokenExtent>& extents);
  bool go_on(const std::vector<Index>& entry, std::vector<io::TokenExtent>& extents);
  void add_entry();

  PreprocessReport& report_;
  Index keys_;
  Index bytes_per_entry_;
  Index next_entry_ = 0;  // of report_.bytes
  bool whole_ = true;     // no write has failed halfway
  InputPosition start_;
  InputPosition at_;
  std::vector<OutputLock> locks_;
  std::optional<Journal> journal_;
  std::vector<io::TokenFileParts> parts_;  // [partition, key]
};

}  // namespace mpitron::data
