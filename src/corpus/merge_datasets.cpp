#include "corpus/merge_datasets.h"

#include <filesystem>
#include <set>

#include "data/output_lock.h"
#include "io/token_file.h"
#include "io/token_file_parts.h"
#include "utils/error.h"

namespace mpitron::corpus {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpora_of(const std::string& folder, const std::string& output_prefix) {
  std::set<std::string> prefixes;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path& path = at->path();
    if (path.extension() == ".bin" || path.extension() == ".idx") {
      prefixes.insert(fs::path(path).replace_extension());
    }
  }
  if (failed) {
    throw_data("--input {}: cannot read the folder: {}", folder, failed.message());
  }
  if (prefixes.empty()) {
    throw_data("--input {}: the folder holds no .bin and .idx files", folder);
  }
  for (const std::string& prefix : prefixes) {
    for (const char* ending : {".bin", ".idx"}) {
      if (!fs::exists(prefix + ending)) {
        throw_data("{}{} is missing; move the other file of that corpus away, or make it anew",
                   prefix, ending);
      }
    }
    std::error_code ignored;
    if (fs::equivalent(prefix + ".bin", output_prefix + ".bin", ignored)) {
      throw_usage("--output-prefix {}: is one of the corpora to merge; choose another name",
                  output_prefix);
    }
  }
  return {prefixes.begin(), prefixes.end()};
}

}  // namespace

MergeReport merge_datasets(const std::string& folder, const std::string& output_prefix) {
  MergeReport report;
  report.parts = corpora_of(folder, output_prefix);
  const data::OutputLock lock(output_prefix);
  io::TokenFileParts merged(output_prefix, io::TokenFile(report.parts.front()).type());
  try {
    for (const std::string& prefix : report.parts)
      merged.append(io::TokenFile(prefix));
    merged.commit();
  } catch (const Error&) {
    merged.discard();
    throw;
  }
  report.documents = merged.extent().documents;
  report.sequences = merged.extent().sequences;
  report.tokens = merged.extent().tokens;
  return report;
}

}  // namespace mpitron::corpus
