#include "report/run_folder.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "utils/error.h"
#include "utils/system/files.h"
#include "utils/text/json_nesting.h"

// Finds and reads the files that a run leaves: metrics.jsonl (curves), run.json (options) and
// run_state.json (how it ended), in the folders of --tensorboard-dir and --save.

namespace mpitron::report {
namespace {

namespace fs = std::filesystem;
using RunJson = nlohmann::ordered_json;

constexpr const char *kMetrics = "metrics.jsonl", *kDescription = "run.json",
                     *kState = "run_state.json";

/// Returns the folder of `name`: `path`, or the one folder right below it that holds such a file.
std::optional<fs::path> folder_of(const fs::path& path, const char* name) {
  if (fs::exists(path / name)) {
    return path;
  }
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.is_directory() && fs::exists(entry.path() / name)) {
      found.push_back(entry.path());
    }
  }
  if (found.size() > 1) {
    std::sort(found.begin(), found.end());
    throw_data("{}: holds several runs, {} and {} among them; name one of them", path.string(),
               found[0].filename().string(), found[1].filename().string());
  }
  return found.empty() ? std::nullopt : std::optional(found[0]);
}

/// Reads a file that a run writes whole. Error(data) where it is no JSON object, or nests deeper
/// than any that a run writes.
RunJson read_json(const fs::path& path) {
  const std::string text = read_file(path);
  RunJson json = unlike_real_objects(text) ? RunJson() : RunJson::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw_data("{}: this is no JSON object; a run writes it whole, so somebody has changed it",
               path.string());
  }
  return json;
}

/// Returns the values of an object as text, whatever their type; the page shows them as they are.
std::vector<NamedValue> named_values(const RunJson& json, const char* key) {
  std::vector<NamedValue> values;
  const auto found = json.find(key);
  if (found != json.end() && found->is_object()) {
    for (const auto& [name, value] : found->items()) {
      values.emplace_back(
          name, value.is_string() ? value.get<std::string>()
                                  : value.dump(-1, ' ', false, RunJson::error_handler_t::replace));
    }
  }
  return values;
}

/// Reads run.json; empty where the run wrote none, as older ones.
RunDescription read_description(const fs::path& path) {
  if (!fs::exists(path)) {
    return {};
  }
  const RunJson json = read_json(path);
  RunDescription run{.build = json.value("build", ""),
                     .world_size = json.value("world_size", std::int64_t{0}),
                     .train_iters = json.value("train_iters", std::int64_t{0}),
                     .seq_length = json.value("seq_length", std::int64_t{0}),
                     .flops_per_sample = json.value("flops_per_sample", 0.0),
                     .layout = named_values(json, "layout"),
                     .given = named_values(json, "given"),
                     .options = named_values(json, "options"),
                     .save = json.value("save", "")};
  std::erase_if(run.layout, [](const NamedValue& size) { return size.second == "1"; });
  return run;
}

/// Takes the first of these folders' run_state.json.
void read_state(const std::vector<fs::path>& folders, RunFolder& run) {
  for (const fs::path& folder : folders) {
    const fs::path path = folder / kState;
    if (!folder.empty() && fs::exists(path)) {
      const RunJson json = read_json(path);
      run.state = SavedState{.state = json.value("state", ""),
                             .reason = json.value("reason", json.value("message", "")),
                             .written = fs::last_write_time(path)};
      run.files.push_back(path);
      return;
    }
  }
}

/// Returns the folder of metrics.jsonl that run_state.json in a folder of --save names.
std::optional<fs::path> folder_that_state_names(const fs::path& path) {
  if (!fs::exists(path / kState)) {
    return std::nullopt;
  }
  const RunJson json = read_json(path / kState);
  const auto metrics = json.find("metrics");
  if (metrics == json.end() || !metrics->is_string()) {
    return std::nullopt;
  }
  const fs::path folder = metrics->get<std::string>();
  return fs::exists(folder / kMetrics) ? std::optional(folder) : std::nullopt;
}

}  // namespace

/// Reads a run; the error tells which folder is meant, since another one of the run is easily
/// given.
RunFolder read_run(const fs::path& path) {
  if (!fs::is_directory(path)) {
    throw_data("{}: there is no such folder; give the one that --tensorboard-dir named",
               path.string());
  }
  auto folder = folder_of(path, kMetrics);
  if (!folder) {
    folder = folder_that_state_names(path);
  }
  if (!folder) {
    throw_data(
        "{}: holds no {}; a run writes it where --tensorboard-dir points, so give that option to "
        "the run, and its folder or that of --save here",
        path.string(), kMetrics);
  }
  try {
    RunFolder run{.name = fs::absolute(path / "").parent_path().filename().string(),
                  .path = path,
                  .description = read_description(*folder / kDescription),
                  .state = {},
                  .metrics = MetricsLog(read_file(*folder / kMetrics)),
                  .written = fs::last_write_time(*folder / kMetrics),
                  .files = {*folder / kMetrics, *folder / kDescription}};
    read_state({path, *folder, run.description.save}, run);
    return run;
  } catch (const RunJson::exception& error) {
    throw_data("{}: run.json or run_state.json does not hold what a run writes: {}", path.string(),
               error.what());
  }
}

/// Reads runs in the order given, which is that of their colours; those of one name are called by
/// their paths.
std::vector<RunFolder> read_runs(const std::vector<std::string>& paths) {
  std::vector<RunFolder> runs;
  for (const std::string& path : paths) {
    runs.push_back(read_run(path));
  }
  const auto of_name = [&](const std::string& name) {
    return std::count_if(runs.begin(), runs.end(),
                         [&](const RunFolder& run) { return run.name == name; });
  };
  std::vector<std::string> names;
  for (const RunFolder& run : runs) {
    names.push_back(of_name(run.name) > 1 ? run.path.string() : run.name);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].name = names[i];
  }
  return runs;
}

}  // namespace mpitron::report
