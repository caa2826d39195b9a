#include "corpus/merge_datasets.h"

#include <filesystem>
#include <map>

#include "data/preprocess/preprocess_output.h"
#include "io/tokens/token_file.h"
#include "io/tokens/token_file_parts.h"
#include "io/tokens/token_hdf5.h"
#include "utils/error.h"

// Joins the corpora of a folder as Megatron's merge_datasets does: tokens one behind the other, an
// index whose places count on.

namespace mpitron::corpus {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHdf5 = ".h5";

/// Returns the endings of the files of each corpus of the folder, by the name before them.
std::map<std::string, std::vector<std::string>> files_of(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> files;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path& path = at->path();
    const std::string ending = path.extension();
    if (ending == ".bin" || ending == ".idx" || ending == kHdf5) {
      files[fs::path(path).replace_extension()].push_back(ending);
    }
  }
  if (failed) {
    throw_data("--input {}: cannot read the folder: {}", folder, failed.message());
  }
  if (files.empty()) {
    throw_data("--input {}: the folder holds no .bin and .idx files, and no .h5 files", folder);
  }
  return files;
}

/// Returns the corpora of a folder, as TokenFile takes their names; half a corpus and the output
/// itself are refused.
std::vector<std::string> corpora_of(const std::string& folder, const std::string& output) {
  const std::string output_file = output.ends_with(kHdf5) ? output : output + ".bin";
  std::vector<std::string> corpora;
  for (const auto& [prefix, endings] : files_of(folder)) {
    const bool is_hdf5 = endings.front() == kHdf5;
    if (endings.size() > (is_hdf5 ? 1U : 2U)) {
      throw_data("{0}.h5 and {0}.bin or {0}.idx would be merged both; move one of them away",
                 prefix);
    }
    for (const char* ending : {".bin", ".idx"}) {
      if (!is_hdf5 && !fs::exists(prefix + ending)) {
        throw_data("{}{} is missing; move the other file of that corpus away, or make it anew",
                   prefix, ending);
      }
    }
    std::error_code ignored;
    if (fs::equivalent(prefix + (is_hdf5 ? kHdf5 : ".bin"), output_file, ignored)) {
      throw_usage("--output-prefix {}: is one of the corpora to merge; choose another name",
                  output);
    }
    corpora.push_back(is_hdf5 ? prefix + kHdf5 : prefix);
  }
  return corpora;
}

/// Returns the fingerprint that all corpora name; an empty text where one names none. Error(data)
/// for two different ones.
std::string common_tokenizer(const std::vector<std::string>& corpora) {
  std::string known, named_by;
  bool all_known = true;
  for (const std::string& corpus : corpora) {
    const std::string hash = io::TokenFile(corpus).tokenizer_hash();
    if (!hash.empty() && !known.empty() && hash != known) {
      throw_data("{} and {} were made with different tokenizers (fingerprints {} and {})", named_by,
                 corpus, known, hash);
    }
    all_known = all_known && !hash.empty();
    if (!hash.empty()) {
      known = hash;
      named_by = corpus;
    }
  }
  return all_known ? known : "";
}

/// Writes .bin and .idx; parts of a half-written file are removed where anything fails.
void write_merged(MergeReport& report, const std::string& prefix) {
  io::TokenFileParts merged(prefix, io::TokenFile(report.parts.front()).type());
  try {
    for (const std::string& corpus : report.parts) {
      merged.append(io::TokenFile(corpus));
    }
    merged.commit();
  } catch (const Error&) {
    merged.discard();
    throw;
  }
  report.documents = merged.extent().documents;
  report.sequences = merged.extent().sequences;
  report.tokens = merged.extent().tokens;
}

/// Writes .h5 by way of .bin and .idx files beside it, which are gone at the end: sizes must be
/// known first.
void write_merged_hdf5(MergeReport& report, const std::string& path,
                       const std::string& tokenizer_hash) {
  struct Between {
    std::string prefix;
    ~Between() {
      std::error_code ignored;
      for (const char* ending : {".bin", ".idx"}) {
        fs::remove(prefix + ending, ignored);
      }
    }
  };
  const Between between{path + ".merged"};
  write_merged(report, between.prefix);
  io::write_token_hdf5(io::TokenFile(between.prefix), path, tokenizer_hash);
}

}  // namespace

/// All corpora must have the tokenizer's hash in common, where they tell it.
MergeReport merge_datasets(const std::string& folder, const std::string& output) {
  MergeReport report;
  report.parts = corpora_of(folder, output);
  const std::string tokenizer_hash = common_tokenizer(report.parts);
  const data::OutputLock lock(output);
  if (output.ends_with(kHdf5)) {
    write_merged_hdf5(report, output, tokenizer_hash);
  } else {
    write_merged(report, output);
  }
  return report;
}

}  // namespace mpitron::corpus
