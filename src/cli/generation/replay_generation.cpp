#include <algorithm>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/generation/generation_ranks.h"
#include "cli/run/launch.h"
#include "config/parse/parse.h"
#include "inference/replay/replay_row.h"
#include "io/arrays/safetensors.h"
#include "io/logs/json_text.h"
#include "models/gpt/gpt_model.h"
#include "tensor/host_fill.h"
#include "tokenizers/make_tokenizer.h"
#include "utils/error.h"
#include "utils/log.h"

// `mpitron replay --generation DIR`: answers the requests that were recorded from Megatron's text
// generation again, in any layout, and compares tokens, log-probabilities and replies. Exit code 0:
// all rows pass, 1: not.

namespace mpitron::cli {
namespace {

using inference::ReplayRow;
namespace fs = std::filesystem;

/// A recorded model with its weights on the ranks' device, as `mpitron serve` would hold it.
class RecordedModel {
 public:
  RecordedModel(const fs::path& folder, const tokenizers::Tokenizer& tokenizer,
                const GenerationRanks& ranks)
      : ranks_(ranks),
        config_(config_of(folder, ranks)),
        model_(config_, ranks.device(), ranks.share(config_, false)),
        shape_{.block_size = 16, .blocks = 64, .slots = 8, .vocabulary = tokenizer.vocab_size()} {
    model_.allocate();
    const io::SafetensorsFile weights((folder / "weights.safetensors").string());
    const auto take = [&](const std::string& name, const Shape& shape, const tensor::Shard& shard,
                          const tensor::Tensor& value) {
      const auto& stored = weights.at(name);
      if (io::checked_numel(stored) != shape.numel()) {
        throw_data("{}: {} has {} elements, the model {}", folder.string(), name,
                   io::checked_numel(stored), shape.numel());
      }
      tensor::fill(ranks.device(), value, [&](const device::TensorView& to) {
        tensor::take_shard({stored.data.data(), to.dtype, shape}, shard, to);
      });
    };
    for (autograd::Parameter& parameter : model_.parameters()) {
      take(parameter.name, parameter.shape, parameter.placement.shard, parameter.value);
    }
    for (autograd::Buffer& bias : model_.parameters().buffers()) {
      if (!bias.fp8_history) {  // the rest is state of training
        take(bias.name, bias.shape, {}, bias.value);
      }
    }
    engine_ = ranks.engine(model_, shape_);
  }
  /// Returns the engine, which only the rank that leads has.
  inference::Engine& engine() const { return *engine_; }
  void follow() const { ranks_.follow(model_, shape_); }

 private:
  /// Parses the recorded flags as a run's, with values for what a run needs and generation does not
  /// read.
  static config::ModelConfig config_of(const fs::path& folder, const GenerationRanks& ranks) {
    const inference::RecordedFlags recorded(folder / "config.json");
    std::vector<std::string> flags = recorded.flags;
    for (const char* more :
         {"--micro-batch-size", "1", "--train-iters", "1", "--lr", "1e-3", "--mock-data"}) {
      flags.emplace_back(more);
    }
    config::ModelConfig config = config::parse_run_config(flags).model;
    config.padded_vocab_size = recorded.padded_vocabulary;
    ranks.check(config, folder.string());
    return config;
  }

  const GenerationRanks& ranks_;
  config::ModelConfig config_;
  models::GptModel model_;
  inference::EngineShape shape_;
  std::unique_ptr<inference::Engine> engine_;
};

std::vector<fs::path> models_of(const fs::path& folder) {
  std::vector<fs::path> models;
  if (fs::is_directory(folder / "models")) {
    for (const auto& entry : fs::directory_iterator(folder / "models")) {
      models.push_back(entry.path());
    }
  }
  std::ranges::sort(models);
  return models;
}

void append(std::vector<ReplayRow>& rows, std::vector<ReplayRow> more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()),
              std::make_move_iterator(more.end()));
}

/// Replays everything below `folder`; the rows are empty on ranks that follow. Rules that need no
/// model (sampling, stop words) come first, then each model in the order of names. Error(data)
/// where nothing is recorded there.
std::vector<ReplayRow> rows_of(const fs::path& folder, const GenerationRanks& ranks) {
  std::vector<ReplayRow> rows = inference::replay_rules(folder);
  const std::vector<fs::path> models = models_of(folder);
  if (rows.empty() && models.empty()) {
    throw_data("{}: no recorded generation (models/, draws.json, ...)", folder.string());
  }
  if (models.empty()) {
    return rows;
  }
  const auto tokenizer =
      tokenizers::make_tokenizer({.vocab_file = (folder / "tokenizer" / "vocab.json").string(),
                                  .merge_file = (folder / "tokenizer" / "merges.txt").string()});
  for (const fs::path& path : models) {
    const RecordedModel recorded(path, *tokenizer, ranks);
    if (!ranks.leads()) {
      recorded.follow();
      continue;
    }
    append(rows, inference::replay_model(recorded.engine(), *tokenizer, path));
    if (fs::exists(folder / "dynamic.json")) {
      append(rows, inference::replay_dynamic(recorded.engine(), *tokenizer, folder / "dynamic.json",
                                             path.filename().string()));
    }
    if (path.filename() == "llama" && fs::exists(folder / "api.json")) {  // the one it ran over
      append(rows, inference::replay_api(recorded.engine(), *tokenizer, folder / "api.json"));
    }
  }
  return rows;
}

const char* result_of(const ReplayRow& row) {
  return row.pass() ? "pass" : "FAIL";
}

void print_table(const std::vector<ReplayRow>& rows) {
  log::print(fmt::format("{:21} {:14} {:>7} {:>7} {:>9} {:>8}  {}", "recorded", "what", "cases",
                         "agree", "largest", "allowed", "result"));
  for (const ReplayRow& row : rows) {
    log::print(fmt::format("{:21} {:14} {:7} {:7} {:9.1e} {:8.0e}  {}", row.of, row.what, row.cases,
                           row.agreed, row.largest, row.allowed, result_of(row)));
  }
}

std::string to_json(const std::vector<ReplayRow>& rows, bool pass) {
  std::string text;
  for (const ReplayRow& row : rows) {
    text += fmt::format(
        R"({}{{"of": {}, "what": {}, "cases": {}, "agreed": {}, "largest": {}, "allowed": {}, )"
        R"("result": "{}"}})",
        text.empty() ? "" : ", ", io::json_string(row.of), io::json_string(row.what), row.cases,
        row.agreed, io::json_number(row.largest), io::json_number(row.allowed), result_of(row));
  }
  return fmt::format(R"({{"pass": {}, "rows": [{}]}})", pass, text);
}

}  // namespace

int replay_generation(const Arguments& arguments) {
  std::string folder;
  bool json = false;
  GenerationLayout layout;
  Flags flags("replay", "Answers every case recorded under a folder of generation again.");
  flags.option("--generation", folder, "folder with models/, draws.json, api.json, ...");
  flags.required();
  flags.flag("--json", json, "one JSON object instead of a table");
  layout.declare(flags);
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  const std::shared_ptr<comm::World> world = launch_world(layout.timeout_minutes);
  const device::HostRuntime runtime;
  const GenerationRanks ranks(layout, world);
  const std::vector<ReplayRow> rows = rows_of(folder, ranks);
  if (!ranks.leads()) {
    return static_cast<int>(ExitCode::success);
  }
  const bool pass = std::ranges::all_of(rows, &ReplayRow::pass);
  if (json) {
    log::print(to_json(rows, pass));
  } else {
    print_table(rows);
    log::print(pass ? "PASS" : "not everything agrees");
  }
  return pass ? 0 : 1;
}

}  // namespace mpitron::cli
