#include "train/checkpointing.h"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "checkpoint/agreement.h"
#include "checkpoint/choose.h"
#include "config/checkpoint_arguments.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

using checkpoint::Folder;
using checkpoint::LoadReport;

constexpr const char* kConsumedValidSamples = "consumed_valid_samples";

std::string layout_json(const config::ParallelConfig& parallel) {
  return nlohmann::json{{"world_size", parallel.world_size},
                        {"tensor_model_parallel_size", parallel.tensor_model_parallel_size},
                        {"pipeline_model_parallel_size", parallel.pipeline_model_parallel_size},
                        {"context_parallel_size", parallel.context_parallel_size},
                        {"data_parallel_size", parallel.data_parallel_size}}
      .dump();
}

checkpoint::WriterOptions writer_options(const config::CheckpointConfig& config) {
  return {.staging_bytes = static_cast<Index>(config.save_staging_gib * (Index{1} << 30))};
}

/// What --dist-ckpt-strictness lets pass: by default every difference ends the run.
bool tolerated(LoadReport::Kind kind, const std::string& strictness) {
  if (kind == LoadReport::Kind::mismatched) {
    return strictness == "ignore_all";
  }
  if (kind == LoadReport::Kind::unexpected) {
    return !strictness.starts_with("raise_");
  }
  return strictness == "log_all" || strictness == "return_all" || strictness == "ignore_all" ||
         strictness == "raise_unexpected";
}

}  // namespace

Checkpointing::Checkpointing(TrainedModel& model, TrainStep& step, const config::RunConfig& config,
                             RunIdentity identity)
    : model_(model),
      step_(step),
      config_(config.checkpoint),
      parallel_(config.parallel),
      identity_(std::move(identity)),
      all_(model.world().all()),
      writer_(model.world(), writer_options(config_)) {
  checkpoint::on_member_0(*all_, [this] { take_save_folder(); });
}

void Checkpointing::take_save_folder() {
  if (!config_.save) {
    return;
  }
  const Folder folder(*config_.save);
  lock_.emplace(folder.root());
  const std::vector<Index> iterations = folder.iterations();
  if (iterations.empty()) {
    return;
  }
  const std::filesystem::path newest = folder.file(iterations.back());
  std::string differences;
  try {
    differences = config::model_differences(checkpoint::File(newest).header().configuration,
                                            identity_.configuration);
  } catch (const Error&) {
    return;  // a damaged file says nothing about its model
  }
  if (!differences.empty()) {
    throw_data("--save {}: {} holds another model ({}); choose another folder", *config_.save,
               newest.string(), differences);
  }
}

std::optional<RunPosition> Checkpointing::load(const std::optional<CheckpointSource>& source) {
  if (!config_.load && !config_.pretrained_checkpoint) {
    return RunPosition{};
  }
  if (source) {
    return load_from(*source);
  }
  if (config_.exit_on_missing_checkpoint) {
    log::print(">> '--exit-on-missing-checkpoint' set ... exiting. <<");
    return std::nullopt;
  }
  log::print(fmt::format("could not find a checkpoint in {}: starting from random", *config_.load));
  return RunPosition{};
}

RunPosition Checkpointing::load_from(const CheckpointSource& source) {
  checkpoint::CheckpointReader reader(model_.world(), source.file);
  const checkpoint::Header& header = reader.file().header();
  log::print(fmt::format(" loading checkpoint from {} at iteration {}", source.file.string(),
                         header.iteration));
  const bool with_optimizer = !source.weights_only && !config_.no_load_optim;
  const bool with_masters = with_optimizer || config_.load_main_params_from_ckpt;
  StateToLoad state(header, with_masters);
  step_.visit_model(state);
  if (with_optimizer) {
    step_.visit_optimizer(state);
  } else if (with_masters) {
    step_.visit_masters(state);
  }
  refuse_differences(reader, state, with_optimizer);
  const checkpoint::LoadStatistics statistics = reader.read(state.tensors());
  step_.values_loaded(with_masters);
  for (const std::string& name : state.missing_values()) {
    log::warning("{} has no {}: it starts as in a new run", source.file.string(), name);
  }
  const RunPosition position =
      source.weights_only
          ? RunPosition{}
          : RunPosition{.iteration = header.iteration,
                        .consumed_train_samples = header.consumed_train_samples,
                        .consumed_valid_samples = header.integers.contains(kConsumedValidSamples)
                                                      ? header.integers.at(kConsumedValidSamples)
                                                      : 0};
  log::print(fmt::format(
      "  successfully loaded checkpoint from {} [ t {}/{}, p {}/{} ] at iteration {} ({:.2f} "
      "GB/s)",
      source.file.string(), model_.groups().tensor->rank() + 1, model_.groups().tensor->size(),
      model_.stage() + 1, model_.groups().pipeline->size(), position.iteration,
      statistics.gb_per_second()));
  last_ = position.iteration;
  return position;
}

/// All differences at once; fatal unless --dist-ckpt-strictness lets them pass.
void Checkpointing::refuse_differences(checkpoint::CheckpointReader& reader,
                                       const StateToLoad& state, bool with_optimizer) const {
  LoadReport fatal, passed;
  for (const LoadReport::Difference& difference : reader.compare(state.tensors()).differences) {
    const bool unexpected = difference.kind == LoadReport::Kind::unexpected;
    const bool not_asked_for = !with_optimizer && difference.name.starts_with("optimizer/");
    if (unexpected && (not_asked_for || state.replaced(reader.file(), difference.name))) {
      continue;
    }
    const bool passes = tolerated(difference.kind, config_.dist_ckpt_strictness);
    (passes ? passed : fatal).differences.push_back(difference);
  }
  if (!fatal.empty()) {
    const std::vector<std::string> missing = fatal.names(LoadReport::Kind::missing);
    const bool only_optimizer =
        !missing.empty() && std::ranges::all_of(missing, [](const std::string& name) {
          return name.starts_with("optimizer/");
        });
    throw Error(
        ExitCode::data,
        fmt::format("{} does not fit this run:\n{}{}", reader.file().path().string(), fatal.text(),
                    only_optimizer
                        ? "it has no such optimizer state: --no-load-optim starts without it"
                        : "--dist-ckpt-strictness log_all goes on with what fits"),
        true);
  }
  if (!passed.empty() && config_.dist_ckpt_strictness.starts_with("log_")) {
    log::warning("{}: {}", reader.file().path().string(), passed.text());
  }
}

checkpoint::Header Checkpointing::header(const RunPosition& position) const {
  checkpoint::Header header{.iteration = position.iteration,
                            .consumed_train_samples = position.consumed_train_samples,
                            .configuration = identity_.configuration,
                            .layout = layout_json(parallel_),
                            .build = identity_.build,
                            .files = identity_.files};
  header.integers[kConsumedValidSamples] = position.consumed_valid_samples;
  return header;
}

void Checkpointing::save(const RunPosition& position) {
  finish();
  log::print(
      fmt::format("saving checkpoint at iteration {:7d} to {}", position.iteration, *config_.save));
  checkpoint::Header header = this->header(position);
  StateToSave state(header);
  step_.visit_model(state);
  if (!config_.no_save_optim) {
    step_.visit_optimizer(state);
  }
  const bool asynchronous = config_.async_save && !config_.verify_resume;
  writer_.save({.tensors = state.tensors(),
                .header = &header,
                .root = *config_.save,
                .iteration = position.iteration,
                .asynchronous = asynchronous});
  last_ = position.iteration;
  if (!asynchronous) {
    finish();
  }
}

void Checkpointing::poll() {
  if (const auto ended = writer_.finish(false)) {
    report(*ended);
  }
}

void Checkpointing::finish() {
  if (const auto ended = writer_.finish(true)) {
    report(*ended);
  }
}

void Checkpointing::report(const checkpoint::SaveReport& save) {
  if (!save.error.empty()) {
    log::error("the checkpoint of iteration {} could not be saved, training goes on: {}",
               save.iteration, save.error);
    return;
  }
  saved_ = save.iteration;
  log::print(fmt::format(
      "  successfully saved checkpoint from iteration {:7d} to {} | {:.3f} GB | blocking: {:.3f} s "
      "| background: {:.3f} s | {:.2f} GB/s",
      save.iteration, *config_.save, static_cast<double>(save.bytes) * 1e-9, save.blocked_seconds,
      save.background_seconds, save.gb_per_second()));
  if (config_.verify_resume) {
    verify_resume(save.iteration);
  }
  if (config_.save_retain_interval || config_.save_keep_last) {
    checkpoint::on_member_0(*all_, [&] {
      checkpoint::apply_retention(
          Folder(*config_.save),
          {.retain_interval = config_.save_retain_interval, .keep_last = config_.save_keep_last},
          save.iteration);
    });
  }
}

/// Reads the checkpoint into memory of its own and compares it with the run's state.
void Checkpointing::verify_resume(Index iteration) {
  const Folder folder(*config_.save);
  checkpoint::CheckpointReader reader(model_.world(), folder.file(iteration));
  StateToLoad state(reader.file().header(), false);
  step_.visit_model(state);
  if (!config_.no_save_optim) {
    step_.visit_optimizer(state);
  }
  std::vector<checkpoint::LoadTarget> shadows;
  std::vector<std::vector<std::byte>> memory;
  for (const checkpoint::LoadTarget& target : state.tensors()) {
    memory.emplace_back(static_cast<std::size_t>(target.tensor.value.bytes()));
    shadows.push_back({target.tensor, {target.tensor.name}});
    shadows.back().tensor.value.data = memory.back().data();
  }
  reader.read(shadows);
  std::string different;
  for (std::size_t i = 0; i < shadows.size(); ++i) {
    if (std::memcmp(memory[i].data(), state.tensors()[i].tensor.value.data, memory[i].size()) !=
        0) {
      different += (different.empty() ? "" : ", ") + shadows[i].tensor.name;
    }
  }
  if (!different.empty()) {
    different = fmt::format("{}: read back, these are not what was saved: {}",
                            folder.file(iteration).string(), different);
  }
  checkpoint::throw_first_error(*all_, different);
  checkpoint::on_member_0(
      *all_, [&] { checkpoint::record_verified_resume(folder, iteration, identity_.build); });
  log::print(fmt::format("  checkpoint of iteration {} read back: all bits are those of the run",
                         iteration));
}

}  // namespace mpitron::train
