#include "train/session/file_rules.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include "checkpoint/folders/folder.h"
#include "io/tokens/token_file.h"
#include "train/batches/training_data.h"
#include "train/checkpointing/checkpoint_source.h"
#include "utils/error.h"

// Rules that need files. Each opens something as the run would and reports what is wrong instead of
// throwing, so that one call tells all mistakes.

namespace mpitron::train {
namespace {

namespace fs = std::filesystem;
using config::RunConfig;

/// Objects that the rules share: the tokenizer is opened once, null where it cannot be.
struct CheckedFiles {
  const RunConfig& run;
  std::unique_ptr<tokenizers::Tokenizer> tokenizer;
};

/// A rule about files. `check` throws Error with the whole sentence where it is broken.
struct FileRule {
  const char* id;
  const char* name;
  std::vector<std::string> options;
  void (*check)(CheckedFiles&);
};

void open_tokenizer(CheckedFiles& files) {
  files.tokenizer = make_run_tokenizer(files.run.data);
}

void check_vocabulary(CheckedFiles& files) {
  if (files.tokenizer != nullptr) {
    padded_vocab_size(files.run, files.tokenizer->vocab_size());
    masked_lm_request(files.run, *files.tokenizer);
    if (files.run.data.fim) {
      data::make_fim_options(*files.run.data.fim, 0, *files.tokenizer);
    }
  }
}

std::vector<data::Blend> blends(const config::DataConfig& d) {
  std::vector<data::Blend> all;
  for (const auto& words : {d.data_path, d.train_data_path, d.valid_data_path, d.test_data_path}) {
    if (!words.empty()) {
      all.push_back(data::parse_blend(words));
    }
  }
  return all;
}

void check_conversations(const std::string& file) {
  if (::access(file.c_str(), R_OK) != 0) {
    throw_data("--data-path {}: is no file that can be read", file);
  }
}

void check_corpus(const CheckedFiles& files, const std::string& prefix) {
  const io::TokenFile corpus(prefix, io::BinAccess::read);
  const std::string& hash = corpus.tokenizer_hash();
  if (files.tokenizer != nullptr && !hash.empty() && hash != files.tokenizer->fingerprint()) {
    throw_data(
        "{}: was made with another tokenizer; give the tokenizer's files that it was made "
        "with",
        prefix);
  }
}

void check_corpora(CheckedFiles& files) {
  for (const data::Blend& blend : blends(files.run.data)) {
    for (const std::string& prefix : blend.prefixes) {
      if (files.run.data.sft) {
        check_conversations(prefix);
      } else {
        check_corpus(files, prefix);
      }
    }
  }
}

void check_training_share(CheckedFiles& files) {
  const config::DataConfig& d = files.run.data;
  if (d.data_path.empty() || d.sft) {
    return;
  }
  const data::SplitMatrix split = data::parse_split(d.split);
  if (!split[data::Split::train]) {
    throw_usage("--split {}: gives the training set nothing", d.split);
  }
}

void check_checkpoint(CheckedFiles& files) {
  const config::CheckpointConfig& c = files.run.checkpoint;
  const bool may_begin =
      c.allow_random_init || c.exit_on_missing_checkpoint || c.pretrained_checkpoint;
  if (c.load) {
    const checkpoint::Folder folder(*c.load);
    if (c.ckpt_step || !(folder.iterations().empty() && (may_begin || is_first_start(c)))) {
      checkpoint::open_newest(folder, c.ckpt_step);
    }
  }
  if (c.pretrained_checkpoint) {
    checkpoint::open_newest(checkpoint::Folder(*c.pretrained_checkpoint));
  }
}

/// Returns the path itself, or the nearest folder above it that exists.
fs::path nearest_existing(fs::path path) {
  path = fs::absolute(path);
  std::error_code ignored;
  while (path.has_relative_path() && !fs::exists(path, ignored)) {
    path = path.parent_path();
  }
  return path;
}

bool is_too_long(const std::string& folder) {
  constexpr std::size_t kLongestName = 255, kLongestPath = 4000;  // NAME_MAX, PATH_MAX with a file
  const auto too_long = [](const fs::path& part) { return part.native().size() > kLongestName; };
  return folder.size() > kLongestPath || std::ranges::any_of(fs::path(folder), too_long);
}

/// Tries the nearest existing folder, because the run makes missing ones itself.
void check_writable(const char* option, const std::optional<std::string>& folder) {
  if (!folder) {
    return;
  }
  if (folder->empty()) {
    throw_usage("{}: the name of the folder is empty", option);
  }
  if (is_too_long(*folder)) {
    throw_usage("{} {}...: the name of {} characters is longer than a file system takes", option,
                folder->substr(0, 40), folder->size());
  }
  const fs::path existing = nearest_existing(*folder);
  std::error_code ignored;
  if (!fs::is_directory(existing, ignored)) {
    throw_data("{} {}: {} is no folder", option, *folder, existing.string());
  }
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    throw_data("{} {}: nothing can be written to {}", option, *folder, existing.string());
  }
}

void check_folders(CheckedFiles& files) {
  check_output_folders(files.run);
}

const std::vector<FileRule>& rules() {
  static const std::vector<FileRule> all = {
      {"F001",
       "tokenizer_opens",
       {"--tokenizer-type", "--vocab-file", "--tokenizer-model"},
       open_tokenizer},
      {"F002",
       "vocabulary_fits",
       {"--padded-vocab-size", "--vocab-extra-ids", "--vocab-file"},
       check_vocabulary},
      {"F003",
       "corpora_open",
       {"--data-path", "--train-data-path", "--valid-data-path"},
       check_corpora},
      {"F004", "training_share", {"--split"}, check_training_share},
      {"F005",
       "checkpoint_opens",
       {"--load", "--ckpt-step", "--pretrained-checkpoint"},
       check_checkpoint},
      {"F006",
       "folders_writable",
       {"--save", "--tensorboard-dir", "--data-cache-path"},
       check_folders},
  };
  return all;
}

}  // namespace

void check_output_folders(const RunConfig& run) {
  check_writable("--save", run.checkpoint.save);
  check_writable("--tensorboard-dir", run.logging.tensorboard_dir);
  check_writable("--data-cache-path", run.data.data_cache_path);
}

std::vector<config::Finding> check_files(const RunConfig& run) {
  CheckedFiles files{.run = run, .tokenizer = nullptr};
  std::vector<config::Finding> findings;
  for (const FileRule& rule : rules()) {
    try {
      rule.check(files);
    } catch (const Error& error) {
      findings.push_back({rule.id, rule.name, error.what(), "", rule.options});
    }
  }
  return findings;
}

}  // namespace mpitron::train
