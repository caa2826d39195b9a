#include "train/checkpointing/checkpoint_loader.h"

#include <functional>
#include <initializer_list>

#include "checkpoint/plan/agreement.h"
#include "config/sources/checkpoint_arguments.h"
#include "tensor/host_copy.h"
#include "train/checkpointing/load_differences.h"
#include "train/model/upcycling.h"
#include "utils/error.h"
#include "utils/log.h"

// One attempt to load: open, compare shapes and configuration, read weights and optimizer state,
// give counters back. Whatever fails is told by all ranks alike, and the next checkpoint may be
// tried.

namespace mpitron::train {
namespace {

/// Whether --dist-ckpt-strictness goes on where the checkpoint lacks a part of the model.
bool passes_other_models(const std::string& strictness) {
  return strictness == "log_all" || strictness == "return_all" || strictness == "ignore_all";
}

/// Makes targets in the host's memory, where a reader can write.
std::vector<checkpoint::LoadTarget> on_host(std::vector<checkpoint::LoadTarget> targets,
                                            tensor::HostMirror& mirror) {
  for (checkpoint::LoadTarget& target : targets) {
    target.tensor = mirror.of(target.tensor);
  }
  mirror.wait();
  return targets;
}

/// Makes targets as they are in this rank's own file.
std::vector<checkpoint::LoadTarget> own_targets(std::vector<checkpoint::LoadTarget> targets) {
  using checkpoint::LocalCheckpoints;
  std::erase_if(targets, [](const auto& target) { return target.tensor.value.numel() == 0; });
  for (checkpoint::LoadTarget& target : targets) {
    for (std::string& name : target.sources) {
      name = LocalCheckpoints::own_name(name, target.tensor);
    }
    target.tensor = LocalCheckpoints::own(target.tensor);
  }
  return targets;
}

/// Runs all checks, and refuses with what each of them says, so that options are mended once. The
/// exit code is that of the first.
void refuse_together(std::initializer_list<std::function<void()>> checks) {
  std::string text;
  std::optional<ExitCode> code;
  for (const std::function<void()>& check : checks) {
    try {
      check();
    } catch (const Error& error) {
      text += (code ? "\nand " : "") + std::string(error.what());
      code = code.value_or(error.code());
    }
  }
  if (code) {
    throw Error(*code, text, true);
  }
}

}  // namespace

/// Absent, with the reason in `why`, where bytes of this checkpoint are damaged: another may do.
/// What no other checkpoint can mend is thrown.
std::optional<RunPosition> CheckpointLoader::load(const CheckpointSource& source,
                                                  std::string& why) {
  std::optional<checkpoint::CheckpointReader> reader;
  why = checkpoint::first_error(*model_.world().all(), checkpoint::error_of([&] {
    if (source.local()) {
      reader.emplace(local_->alone(), local_->fetch(source.iteration));
    } else {
      reader.emplace(model_.world(), source.file);
    }
  }));
  if (!why.empty()) {
    return std::nullopt;
  }
  const checkpoint::File& file = reader->file();
  log::print(fmt::format(" loading checkpoint from {} at iteration {}", file.path().string(),
                         file.header().iteration));
  refuse_other_tokenizer(file, identity_.files, source.weights_only);
  const auto statistics = read_state(*reader, source, why);
  if (!statistics) {
    return std::nullopt;
  }
  const RunPosition position = source.weights_only ? RunPosition{} : position_of(file.header());
  log::print(fmt::format(
      "  successfully loaded checkpoint from {} [ t {}/{}, p {}/{} ] at iteration {} ({:.2f} "
      "GB/s)",
      file.path().string(), model_.groups().tensor->rank() + 1, model_.groups().tensor->size(),
      model_.stage() + 1, model_.groups().pipeline->size(), position.iteration,
      statistics->gb_per_second()));
  return position;
}

/// Names what is wanted, compares it with what is there, then reads: a model that does not fit is
/// told before a byte of it was overwritten.
std::optional<checkpoint::LoadStatistics> CheckpointLoader::read_state(
    checkpoint::CheckpointReader& reader, const CheckpointSource& source, std::string& why) {
  const checkpoint::Header& header = reader.file().header();
  const bool with_optimizer = !source.weights_only && !config_.no_load_optim;
  const bool with_masters = with_optimizer || config_.load_main_params_from_ckpt;
  touched_state_ = true;
  StateToLoad state(header, with_masters);
  std::optional<DenseView> dense;
  if (config_.upcycling_granularity) {
    step_.visit_model(
        dense.emplace(state, model_.chunk(0).config(), *config_.upcycling_granularity));
  } else {
    step_.visit_model(state);
  }
  std::optional<Error> schedules;
  if (with_optimizer) {
    try {
      step_.visit_optimizer(state);
    } catch (const Error& other_schedules) {  // thrown when all tensors have been visited
      schedules = other_schedules;
    }
  } else if (with_masters) {
    step_.visit_masters(state);
  }
  tensor::HostMirror mirror(step_.device());
  std::vector<checkpoint::LoadTarget> targets = on_host(state.tensors(), mirror);
  if (source.local()) {
    targets = own_targets(std::move(targets));
  }
  std::optional<PositionTables> positions;
  if (source.weights_only) {
    positions.emplace(reader.file(), model_.chunk(0).config(), targets);
  }
  const auto compare = [&] {
    refuse_differences(
        reader, targets,
        {.state = state,
         .with_optimizer = with_optimizer,
         .with_histories = !config_.upcycling_granularity.has_value(),
         .strictness = config_.dist_ckpt_strictness,
         .new_head = source.weights_only && model_.chunk(0).config().text_head.has_value()});
  };
  const auto refuse_schedules = [&] {
    if (schedules) {
      throw *schedules;
    }
  };
  if (source.local()) {
    refuse_schedules();
  } else {  // the same on all ranks: ends the run
    refuse_together({[&] {
                       compare();
                       refuse_other_model(reader.file(), source.weights_only);
                     },
                     refuse_schedules, [&] { tell_changes(header, source.weights_only); }});
  }
  checkpoint::LoadStatistics statistics;
  why = checkpoint::first_error(*model_.world().all(), checkpoint::error_of([&] {
    if (source.local()) {
      compare();
    }
    statistics = reader.read(targets);
    if (positions) {
      positions->resize();
    }
  }));
  if (!why.empty()) {
    return std::nullopt;
  }
  mirror.write_back();
  if (with_optimizer) {
    report_state_types(header);
  }
  if (dense) {
    dense->scale_experts(step_.device());
  }
  step_.values_loaded(with_masters);
  for (const std::string& name : state.missing_values()) {
    log::warning("{} has no {}: it starts as in a new run", reader.file().path().string(), name);
  }
  return statistics;
}

/// Tensors of two models may fit by chance (another activation, other heads of the same width).
void CheckpointLoader::refuse_other_model(const checkpoint::File& file, bool weights_only) const {
  const std::string differences = model_differences(file.header(), identity_);
  if (differences.empty() || config_.upcycling_granularity) {
    return;
  }
  const std::string text = fmt::format("{} is of another model, although its tensors fit ({})",
                                       file.path().string(), differences);
  if (!weights_only && !passes_other_models(config_.dist_ckpt_strictness)) {
    throw Error(ExitCode::data,
                text +
                    "; give the same options (--use-checkpoint-args takes the checkpoint's), or "
                    "--finetune to begin a run with its weights",
                true);
  }
  log::warning("{}", text);
}

/// Options that change what the weights compute end the run; all others that differ are printed.
void CheckpointLoader::tell_changes(const checkpoint::Header& header, bool weights_only) const {
  const std::string& theirs = header.configuration;
  const std::string function = config::function_differences(theirs, identity_.configuration);
  if (!function.empty() && !weights_only && !identity_.accepts_changes) {
    throw Error(ExitCode::data,
                fmt::format("these options give the checkpoint's weights another function ({}); "
                            "give them as they were, --accept-changes to go on all the same, or "
                            "--finetune to begin a run with its weights",
                            function),
                true);
  }
  if (!function.empty()) {
    log::warning("the checkpoint's weights get another function: {}", function);
  }
  const std::string all = config::all_differences(theirs, identity_.configuration);
  if (!all.empty()) {
    log::print(fmt::format("  options that have changed since the checkpoint: {}", all));
  }
}

void CheckpointLoader::report_state_types(const checkpoint::Header& header) const {
  const std::string types =
      config::state_type_differences(header.configuration, identity_.configuration);
  if (!types.empty()) {
    log::print(
        fmt::format("  the optimizer's state is stored in other types from now on: {}", types));
  }
}

}  // namespace mpitron::train
