#include <algorithm>
#include <filesystem>

#include "cli/checkpoint_path.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "data/index/input_files.h"
#include "io/logs/trace_file.h"
#include "train/timing/trace_summary.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron trace merge|summary`: the traces that --profile has written, one file for each rank,
// joined for a viewer or summed up.

namespace mpitron::cli {
namespace {

using Paths = std::vector<std::filesystem::path>;

/// Replaces folders by the ranks' files in them, sorted; a file is itself. Error(data) for a folder
/// without traces.
Paths trace_files(const Arguments& given) {
  Paths files;
  for (const std::filesystem::path path : given) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("trace_rank_") && name.ends_with(".json")) {
        files.push_back(entry.path());
      }
    }
    if (files.size() == before) {
      throw_data(
          "{}: holds no trace_rank_*.json; give the folder that --profile has written to "
          "(--profile-dir)",
          path.string());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

Paths required_files(const char* action, const Arguments& given) {
  if (given.empty()) {
    throw_usage("trace {}: no files given: mpitron trace {} FOLDER, or the files one by one",
                action, action);
  }
  return trace_files(given);
}

/// Accepts -o as other tools do; the parser of flags knows long names only.
int merge(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  std::replace(words.begin(), words.end(), std::string("-o"), std::string("--output"));
  std::string output;
  Flags flags("trace merge",
              "Joins the traces of ranks into one file for Perfetto or chrome://tracing: a row for "
              "each rank, on one clock.",
              "FILE|FOLDER... -o OUTPUT");
  flags.option("--output", output, "the joined file (or -o)");
  flags.required();
  if (!flags.parse(words)) {
    return 0;
  }
  const Paths files = required_files("merge", paths);
  data::refuse_to_replace({files.begin(), files.end()}, "--output", output);
  io::merge_traces(files, output);
  log::print(fmt::format("{}: {} {}; open it in https://ui.perfetto.dev or chrome://tracing",
                         output, files.size(), files.size() == 1 ? "file" : "files"));
  return 0;
}

int summary(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments paths = take_paths(words);
  bool json = false;
  Flags flags(
      "trace summary",
      "Tells where the time of the recorded steps went, rank by rank: compute, communication "
      "hidden behind it and exposed, the pipeline's bubble.",
      "FILE|FOLDER...");
  flags.flag("--json", json, "print one JSON object");
  if (!flags.parse(words)) {
    return 0;
  }
  const auto ranks = train::summarize_traces(required_files("summary", paths));
  log::print(json ? train::summary_json(ranks) : train::summary_table(ranks));
  return 0;
}

}  // namespace

int trace(const Arguments& arguments) {
  static constexpr Command kCommands[] = {
      {"merge", "join the traces of ranks into one file for Perfetto", merge},
      {"summary", "tell where the time of the recorded steps went, rank by rank", summary},
  };
  return run_command_of("trace", kCommands, arguments);
}

}  // namespace mpitron::cli
