#include "train/checkpointing/checkpointing.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "checkpoint/folders/folder.h"
#include "checkpoint/format/file.h"
#include "checkpoint/plan/agreement.h"
#include "checkpoint/tools/strip_optimizer.h"
#include "io/hdf5/hdf5_file.h"
#include "train/checkpointing/base_weights.h"
#include "train/checkpointing/checkpoint_loader.h"
#include "train/checkpointing/checkpoint_state.h"
#include "train/checkpointing/load_differences.h"
#include "utils/error.h"
#include "utils/log.h"

// When a run loads and saves: the order of sources at the start, saves by interval, short-lived and
// local ones beside them, retention, and the report of each save. How bytes move is the matter of
// src/checkpoint.

namespace mpitron::train {
namespace {

using checkpoint::Folder;

std::string layout_json(const config::ParallelConfig& parallel) {
  return nlohmann::json{{"world_size", parallel.world_size},
                        {"tensor_model_parallel_size", parallel.tensor_model_parallel_size},
                        {"pipeline_model_parallel_size", parallel.pipeline_model_parallel_size},
                        {"context_parallel_size", parallel.context_parallel_size},
                        {"data_parallel_size", parallel.data_parallel_size}}
      .dump();
}

checkpoint::WriterOptions writer_options(const config::CheckpointConfig& config, Trace* trace) {
  return {.staging_bytes = static_cast<Index>(config.save_staging_gib * (Index{1} << 30)),
          .file_per_writer = config.save_file_per_writer,
          .trace = trace};
}

/// The checkpoints that are there are loaded: a tracker that says nothing changes no choice.
void tell_broken_tracker(const Folder& folder) {
  try {
    folder.tracked();
  } catch (const Error& error) {
    log::warning("{}; the newest checkpoint that is whole is taken", error.what());
  }
}

}  // namespace

/// Prepares saving and loading: folders are made and checked at the start, because a mistake in a
/// path must not show after hours.
Checkpointing::Checkpointing(TrainedModel& model, TrainStep& step, const config::RunConfig& config,
                             RunIdentity identity, Trace* trace)
    : model_(model),
      step_(step),
      config_(config.checkpoint),
      parallel_(config.parallel),
      low_rank_(config.model.lora),
      identity_(std::move(identity)),
      all_(model.world().all()),
      writer_(model.world(), writer_options(config_, trace)) {
  if (config_.save) {
    io::require_hdf5("--save " + *config_.save);
  }
  checkpoint::on_member_0(*all_, [this] { take_save_folder(); });
  const config::NonPersistentConfig& short_lived = config_.non_persistent;
  if (short_lived.local) {
    local_ = std::make_unique<checkpoint::LocalCheckpoints>(
        model.world(),
        checkpoint::LocalCheckpoints::Options{.folder = *short_lived.local_folder,
                                              .replication_jump = short_lived.replication_jump,
                                              .replication_factor = short_lived.replication_factor,
                                              .writer = writer_options(config_, trace)});
  }
  step_.before_update([this] {
    writer_.wait_for_copies();
    if (local_ != nullptr) {
      local_->wait_for_copies();
    }
  });
}

Checkpointing::~Checkpointing() {
  step_.before_update([] {});
}

/// Two runs that save to one folder would delete each other's checkpoints, and those of another
/// model would be lost.
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
  if (config_.upcycling_granularity) {
    throw_data(
        "--save {} holds checkpoints; --moe-use-upcycling begins a new folder: name another, "
        "or leave the flag out to go on from this one",
        *config_.save);
  }
  const std::filesystem::path newest = folder.file(iterations.back());
  std::string differences;
  try {
    differences = model_differences(checkpoint::File(newest).header(), identity_);
  } catch (const Error&) {
    return;  // a damaged file says nothing about its model
  }
  if (!differences.empty()) {
    throw_data("--save {}: {} holds another model ({}); choose another folder", *config_.save,
               newest.string(), differences);
  }
}

/// Takes the newest checkpoint whose bytes are whole; a damaged one is skipped with a warning.
std::optional<RunPosition> Checkpointing::load() {
  if (low_rank_) {
    load_base();
  }
  if (!config_.load && !config_.pretrained_checkpoint) {
    return begin();
  }
  if (config_.load && all_->rank() == 0) {
    tell_broken_tracker(Folder(*config_.load));
  }
  CheckpointLoader loader(model_, step_, config_, identity_, local_.get());
  std::string all_reasons;
  const std::vector<CheckpointSource> all = sources();
  for (const CheckpointSource& source : all) {
    std::string why;
    if (const auto position = loader.load(source, why)) {
      refuse_other_base(source);
      note_loaded(source, position->iteration);
      return position;
    }
    if (model_.world().rank() == 0) {
      log::warning("skipped: {}", why);
    }
    all_reasons += "; " + why;
  }
  // A damaged checkpoint is not a missing one.
  if (config_.exit_on_missing_checkpoint && all.empty()) {
    log::print(">> '--exit-on-missing-checkpoint' set ... exiting. <<");
    return std::nullopt;
  }
  if (low_rank_ && !loader.touched_state()) {
    return begin();
  }
  if (foreign_ && all.empty()) {
    return begin();
  }
  const bool may_begin = config_.allow_random_init || (all.empty() && is_first_start(config_));
  // After a failed attempt the weights are neither random nor a checkpoint's.
  if (loader.touched_state() || !may_begin || !config_.load) {
    throw_nothing_to_load(all_reasons);
  }
  log::print(fmt::format("could not find a checkpoint in {}: starting from random", *config_.load));
  return RunPosition{};
}

/// Loads the weights under low-rank updates, from a checkpoint or another program's files, before
/// checkpoints of the run are looked for.
void Checkpointing::load_base() {
  if (foreign_) {
    load_foreign_weights(model_, step_, *foreign_);
    base_.fingerprint = foreign_->fingerprint();
    base_.folder = foreign_->path;
  } else {
    base_.fingerprint = load_base_weights(model_, step_, config_, identity_);
    base_.folder = config_.pretrained_checkpoint.value_or("");
    config_.pretrained_checkpoint.reset();
  }
  if (low_rank_->base_in_4_bits && !base_.fingerprint.empty()) {
    base_.fingerprint += kIn4Bits;
  }
}

/// Low-rank updates of one model are noise on another.
void Checkpointing::refuse_other_base(const CheckpointSource& source) const {
  if (!low_rank_ || source.local() || base_.fingerprint.empty()) {
    return;
  }
  checkpoint::on_member_0(*all_, [&] { refuse_updates_of_others(source.file, base_.fingerprint); });
}

RunPosition Checkpointing::begin() {
  if (foreign_ && !low_rank_) {
    load_foreign_weights(model_, step_, *foreign_);
  }
  if (config_.load_adapter) {
    load_adapter(model_, step_, *config_.load_adapter);
  }
  return {};
}

/// A run that was told to load and starts from nothing would look like a resume.
void Checkpointing::throw_nothing_to_load(const std::string& why) const {
  if (!config_.load) {
    throw Error(ExitCode::data,
                fmt::format("--pretrained-checkpoint {}: there is no complete checkpoint{}",
                            *config_.pretrained_checkpoint, why),
                true);
  }
  throw Error(ExitCode::data,
              fmt::format("--load {}: there is no complete checkpoint{}; name the folder that "
                          "holds iter_*/, or give --allow-random-init to start from random weights",
                          *config_.load, why),
              true);
}

/// Each rank's own state loads fastest, and is taken where it is newer than what all share.
std::vector<CheckpointSource> Checkpointing::sources() {
  std::vector<CheckpointSource> all = checkpoint_sources(model_.world(), config_);
  if (local_ != nullptr && config_.load && !config_.finetune && !config_.ckpt_step) {
    if (const auto newest = local_->newest(layout_json(parallel_))) {
      const auto older = std::ranges::find_if(
          all, [&](const CheckpointSource& s) { return s.iteration < *newest || s.weights_only; });
      all.insert(older, {.iteration = *newest});
    }
  }
  return all;
}

void Checkpointing::note_loaded(const CheckpointSource& source, Index iteration) {
  if (!source.local()) {
    last_ = iteration;
  }
  if (!source.weights_only) {
    loaded_ = iteration;
  }
}

/// Makes what a checkpoint says of itself: position, options, build, tokenizer files.
checkpoint::Header Checkpointing::header(const RunPosition& position) const {
  checkpoint::Header header{.configuration = identity_.configuration,
                            .layout = layout_json(parallel_),
                            .build = identity_.build,
                            .files = identity_.files};
  if (identity_.vocabulary > 0) {
    header.integers[checkpoint::kVocabularySize] = identity_.vocabulary;
  }
  if (low_rank_) {
    header.texts[kBaseFingerprint] = base_.fingerprint;
    header.texts[checkpoint::kAdapterConfig] = stored_adapter_config(*low_rank_, base_.folder);
  }
  set_position(header, position);
  return header;
}

/// Waits where nothing is to run beside the writing.
void Checkpointing::save(const RunPosition& position, SaveKind kind) {
  const bool persistent = kind == SaveKind::persistent;
  const bool local = !persistent && local_ != nullptr;
  begin_save(position,
             persistent ? *config_.save
             : local    ? *config_.non_persistent.local_folder
                        : *config_.non_persistent.global_folder,
             local);
  if (persistent) {
    last_ = position.iteration;
  }
  if (!config_.async_save || config_.verify_resume) {
    end_save(true);
  }
}

/// Names all state; the writer copies it, beside training where it can.
void Checkpointing::begin_save(const RunPosition& position, const std::filesystem::path& root,
                               bool local) {
  finish();
  log::print(
      fmt::format("saving checkpoint at iteration {:7d} to {}", position.iteration, root.string()));
  checkpoint::Header header = this->header(position);
  StateToSave state(header, local);
  step_.visit_model(state);
  if (!config_.no_save_optim) {
    step_.visit_optimizer(state);
  }
  saving_ = {.root = root, .local = local};
  mirror_.emplace(step_.device());
  std::vector<tensor::ShardedTensor> tensors;
  for (const tensor::ShardedTensor& tensor : state.tensors()) {
    tensors.push_back(mirror_->of(tensor));
  }
  mirror_->wait();
  const bool in_background = config_.async_save && !config_.verify_resume;
  const checkpoint::CheckpointWriter::Request request{
      .tensors = tensors,
      .header = &header,
      .root = root,
      .iteration = position.iteration,
      .asynchronous = in_background && !mirror_->independent()};
  if (local) {
    local_->save(request);
  } else {
    writer_.save(request);
  }
}

void Checkpointing::convert(const RunPosition& position, const std::filesystem::path& folder) {
  begin_save(position, folder, false);
  const auto ended = writer_.finish(true);
  if (!ended->error.empty()) {
    throw Error(ExitCode::data, ended->error, true);
  }
  log::print(fmt::format("> converted checkpoint: {} of iteration {}", folder.string(),
                         position.iteration));
}

void Checkpointing::end_save(bool wait) {
  if (const auto ended = saving_.local ? local_->finish(wait) : writer_.finish(wait)) {
    report(*ended);
  }
}

void Checkpointing::poll() {
  end_save(false);
}

void Checkpointing::finish() {
  end_save(true);
  wait_for_retention();
}

/// A save that failed is told of and ends no run; behind one that succeeded older ones are deleted.
void Checkpointing::report(const checkpoint::SaveReport& save) {
  mirror_.reset();
  if (!save.error.empty()) {
    log::error("the checkpoint of iteration {} could not be saved, training goes on: {}",
               save.iteration, save.error);
    return;
  }
  saved_ = save.iteration;
  save_seconds_ = std::max(save.total_seconds, save_seconds_.value_or(0));
  log::print(fmt::format(
      "  successfully saved checkpoint from iteration {:7d} to {} | {:.3f} GB | blocking: {:.3f} s "
      "| background: {:.3f} s | {:.2f} GB/s",
      save.iteration, saving_.root.string(), static_cast<double>(save.bytes) * 1e-9,
      save.blocked_seconds, save.background_seconds, save.gb_per_second()));
  if (saving_.local) {
    return;
  }
  if (config_.verify_resume) {
    verify_resume(model_.world(), step_,
                  {Folder(saving_.root), save.iteration, !config_.no_save_optim, identity_.build});
  }
  retain(save.iteration);
}

/// Deletes old checkpoints beside training, and only once every byte of the newest has been read
/// back.
void Checkpointing::retain(Index newest) {
  const bool persistent = saving_.root == *config_.save;
  const checkpoint::Retention retention{
      .retain_interval = persistent ? config_.save_retain_interval : std::nullopt,
      .keep_last = persistent ? config_.save_keep_last : 1};
  const std::optional<Index> whole = persistent ? config_.save_keep_optim_last : std::nullopt;
  if (all_->rank() != 0 || (!retention.retain_interval && !retention.keep_last && !whole)) {
    return;
  }
  retention_ =
      std::async(std::launch::async, [folder = Folder(saving_.root), retention, whole, newest] {
        const std::string reason = checkpoint::reason_against(folder.file(newest));
        return !reason.empty() ? reason : checkpoint::error_of([&] {
          checkpoint::apply_retention(folder, retention, newest);
          if (whole) {
            checkpoint::strip_older_than(folder, *whole, newest);
          }
        });
      });
}

void Checkpointing::wait_for_retention() {
  if (retention_.valid()) {
    if (const std::string error = retention_.get(); !error.empty()) {
      log::warning("older checkpoints are kept as they are: {}", error);
    }
  }
}

}  // namespace mpitron::train
