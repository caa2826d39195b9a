#pragma once
#include <fmt/ranges.h>

#include "corpus/clean.h"
#include "corpus/cleaner.h"
#include "data/preprocess/json_text.h"
#include "utils/log.h"
#include "utils/system/files.h"

namespace mpitron::corpus {

/// The file of documents that are kept, and the counts of all.
class CleanedOutput {
 public:
  CleanedOutput(const CleanOptions& options, CleanReport& report)
      : options_(options), report_(report), file_(options.output) {}

  /// Writes the records of a batch, with ids where they are asked for. Ids count what is written,
  /// and so are given here, in order.
  void write(const CleanBatch& batch) {
    std::size_t begin = 0;
    for (const std::size_t end : batch.ends) {
      const std::string_view tail = std::string_view(batch.out).substr(begin, end - begin);
      ++report_.written;
      const std::string head =
          options_.id_prefix.empty()
              ? "{"
              : fmt::format(
                    "{{\"id\": {}{}",
                    data::quote_json(fmt::format("{}-{:010}", options_.id_prefix, report_.written)),
                    tail == "}" ? "" : ", ");
      file_.write(head);
      file_.write(tail);
      file_.write("\n");
      report_.bytes_written += std::ssize(head) + std::ssize(tail) + 1;
      begin = end;
    }
    for (std::size_t i = 0; i < kFates; ++i) {
      report_.fates[i] += batch.fates[i];
    }
    report_.documents += std::ssize(batch.raw.documents);
    report_.fixed += batch.fixed;
    report_.split += batch.split;
    report_.bytes += batch.raw.file_bytes;
    for (const std::string& complaint : batch.complaints) {
      if (++complaints_ <= kMaxComplaints) {
        log::warning("left out: {}{}", complaint,
                     complaints_ == kMaxComplaints ? "; more of them are only counted" : "");
      }
    }
  }

  void commit() { file_.commit(); }

 private:
  static constexpr Index kMaxComplaints = 10;

  const CleanOptions& options_;
  CleanReport& report_;
  AtomicFile file_;
  Index complaints_ = 0;
};

}  // namespace mpitron::corpus
