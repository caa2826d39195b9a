#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "checkpoint/plan/agreement.h"
#include "cli/run/launch.h"
#include "comm/groups/group.h"
#include "data/index/blend.h"
#include "utils/error.h"
#include "utils/text/hash.h"

// The check that all ranks of a run were started alike. Each rank writes its options as lines; one
// hash over all ranks finds out whether they agree, and only if not do the lines travel to name the
// first difference.

namespace mpitron::cli {
namespace {

/// Options that name a node's own places, and may differ from rank to rank.
constexpr std::array kOwnPlaces = {
    "tensorboard_dir", "profile_dir",    "data_cache_path", "non_persistent_local_ckpt_dir",
    "tuning_file",     "data_path",      "yaml_cfg",        "train_data_path",
    "valid_data_path", "test_data_path", "vocab_file",      "merge_file",
    "tokenizer_model", "data_args_path", "device",          "per_split_data_args_path",
    "local_rank",      "metrics_address"};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Writes the size of each corpus behind its name without the folder: nodes may keep copies
/// elsewhere, but a copy of another size is another corpus.
std::string corpus_lines(const config::DataConfig& data) {
  std::string text;
  for (const auto& words :
       {data.data_path, data.train_data_path, data.valid_data_path, data.test_data_path}) {
    if (words.empty()) {
      continue;
    }
    for (const std::string& prefix : data::parse_blend(words).prefixes) {
      std::error_code missing;
      const auto size = std::filesystem::file_size(prefix + ".bin", missing);
      text += fmt::format("bytes of {}.bin\t{}\n",
                          std::filesystem::path(prefix).filename().string(), missing ? 0 : size);
    }
  }
  return text;
}

}  // namespace

std::string common_lines(const config::ParsedRun& parsed, const std::string& build) {
  std::string text;
  const config::OptionIndex& index = config::option_index();
  for (std::size_t slot = 0; slot < index.size(); ++slot) {
    if (std::ranges::find(kOwnPlaces, index.dest(slot)) == kOwnPlaces.end()) {
      text += fmt::format("--{}\t{}\n", index.option(slot).name,
                          fmt::join(parsed.values.words(index.dest(slot)), " "));
    }
  }
  return text + corpus_lines(parsed.run.data) + "the build\t" + build + "\n";
}

std::string first_difference(const std::string& of_rank_0, const std::string& of_other,
                             Index other) {
  const std::vector<std::string> ours = lines_of(of_rank_0), theirs = lines_of(of_other);
  for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const std::string a = i < ours.size() ? ours[i] : "\t",
                      b = i < theirs.size() ? theirs[i] : "\t";
    if (a != b) {
      const auto value = [](const std::string& line) {
        const std::string text = line.substr(std::min(line.find('\t') + 1, line.size()));
        return text.empty() ? "nothing" : text;
      };
      return fmt::format("{}: {} on rank 0, {} on rank {}", a.substr(0, a.find('\t')), value(a),
                         value(b), other);
    }
  }
  return "";
}

/// Equal highest and lowest hashes mean equal hashes; two reductions of a number cost less than
/// sending the lines of every rank.
void require_agreement(comm::World& world, const std::string& lines) {
  const std::shared_ptr<comm::Group> all = world.all();
  // 48 bits, which a double holds.
  const auto hash = static_cast<double>(hash64(lines) >> 16U);
  const double highest = all->reduce(hash, comm::Reduction::maximum);
  const double lowest = -all->reduce(-hash, comm::Reduction::maximum);
  if (highest == lowest) {
    return;
  }
  const std::string first = checkpoint::broadcast_text(*all, lines, 0);
  const std::string mine = first_difference(first, lines, world.rank());
  if (const std::string told = checkpoint::first_error(*all, mine); !told.empty()) {
    throw Error(ExitCode::usage,
                told +
                    "; all ranks must be started with the same options, by the same program, on "
                    "the same data",
                true);
  }
}

}  // namespace mpitron::cli
