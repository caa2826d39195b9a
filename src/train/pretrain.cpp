#include "train/pretrain.h"

#include "train/exit_signals.h"
#include "train/result_checks.h"
#include "train/unigram.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

ExitOptions exit_options(const config::RunConfig& config) {
  return {.save = config.checkpoint.save.has_value(),
          .save_interval = config.checkpoint.save_interval,
          .exit_interval = config.training.exit_interval,
          .exit_duration_in_mins = config.training.exit_duration_in_mins};
}

Timers& traced(Timers& timers, const Profile& profile) {
  timers.set_trace(profile.trace());
  return timers;
}

}  // namespace

Pretraining::Pretraining(device::Device& device, TrainedModel& model, const TrainingData& data,
                         const config::RunConfig& config, const RunIdentity& identity,
                         std::shared_ptr<Trace> trace)
    : device_(device),
      model_(model),
      data_(data),
      config_(config),
      timers_(config.logging.timing_log_level, config.logging.timing_log_option),
      profile_(device, model.world(), config.training, std::move(trace)),
      num_microbatches_(config.training, config.parallel.data_parallel_size),
      skipped_(config.training.iterations_to_skip),
      step_(device, model, config, traced(timers_, profile_)),
      checkpointing_(model, step_, config, identity, profile_.trace()),
      log_(config, timers_, model.world().rank()) {}

RunOutcome Pretraining::run() {
  const std::optional<RunPosition> start = checkpointing_.load();
  if (!start) {
    return {};
  }
  RunOutcome outcome{.iteration = start->iteration,
                     .consumed_samples = start->consumed_train_samples};
  consumed_valid_samples_ = start->consumed_valid_samples;
  if (outcome.iteration > 0) {
    log_.resumed_at(outcome.iteration);
  }
  if (config_.training.skip_train || train(outcome)) {
    validate({outcome.iteration, outcome.consumed_samples, config_.training.global_batch_size},
             true);
  }
  step_.replicas().make_whole();
  return outcome;
}

StepReport Pretraining::one_iteration(Index iteration, Index consumed, MicrobatchStream& stream,
                                      Index& batch_size) {
  const BatchSize batch = num_microbatches_.at(consumed);
  batch_size = batch.running;
  const auto next = [&] { return stream.next(); };
  if (skipped_.contains(iteration)) {
    for (Index i = 0; i < batch.num_microbatches; ++i) {
      next();
    }
    return {.skipped = true};
  }
  const StepReport report = step_.run(iteration, batch.num_microbatches, batch.running, next);
  if (config_.training.check_for_nan_in_loss_and_grad) {
    check_finite(report.loss(), "loss", {.iteration = iteration});
    check_finite(report.grad_norm, "gradient norm", {.iteration = iteration});
  }
  return report;
}

bool Pretraining::train(RunOutcome& outcome) {
  if (!data_.sets.train) {
    throw_usage("there is no training data: --split gives the training set nothing");
  }
  const Timer since_start;
  const ExitSignals signals(config_.training.exit_signal_handler);
  const comm::GroupHandle all = model_.world().all();
  const ExitConditions exits(exit_options(config_), [&](Index value) {
    return static_cast<Index>(all->reduce(static_cast<double>(value), comm::Reduction::maximum));
  });
  MicrobatchStream stream = this->stream(data_.sets.train, outcome.consumed_samples);
  Progress progress{.iteration = outcome.iteration, .consumed_samples = outcome.consumed_samples};
  while (progress.iteration < config_.training.train_iters) {
    ++progress.iteration;
    profile_.begin_step(progress.iteration);
    const StepReport report =
        one_iteration(progress.iteration, progress.consumed_samples, stream, progress.batch_size);
    profile_.end_step(progress.iteration);
    progress.consumed_samples += progress.batch_size;
    log_.iteration(progress, report, step_);
    const auto check = config_.training.check_weight_hash_across_dp_replicas_interval;
    if (check && progress.iteration % *check == 0) {
      step_.check_replicas();
    }
    outcome.iteration = progress.iteration;
    outcome.consumed_samples = progress.consumed_samples;
    checkpointing_.poll();
    const Index interval = config_.training.eval_interval;
    if (interval > 0 && progress.iteration % interval == 0 &&
        progress.iteration < config_.training.train_iters) {
      validate(progress, false);
    }
    const ExitDecision decision = exits.decide({.iteration = progress.iteration,
                                                .minutes_since_start = since_start.seconds() / 60,
                                                .signal = signals.received()});
    if (!obey(decision, progress, outcome)) {
      return false;
    }
  }
  if (config_.checkpoint.save && progress.iteration > 0 &&
      checkpointing_.last_save() != progress.iteration) {
    save(progress);
  }
  checkpointing_.finish();
  return true;
}

bool Pretraining::obey(const ExitDecision& decision, const Progress& progress,
                       RunOutcome& outcome) {
  if (decision.save != SaveKind::none) {
    save(progress);
  }
  if (decision.reason == ExitReason::none) {
    return true;
  }
  checkpointing_.finish();
  log::print(datetime_line(decision.message, std::chrono::system_clock::now()));
  outcome.code = exit_code(decision.reason, checkpointing_.saved_iteration() == progress.iteration);
  return false;
}

/// The time of a save does not count as training.
void Pretraining::save(const Progress& progress) {
  log_.pause();
  const TraceScope scope(profile_.trace(), TraceKind::phase, "save-checkpoint");
  checkpointing_.save({.iteration = progress.iteration,
                       .consumed_train_samples = progress.consumed_samples,
                       .consumed_valid_samples = consumed_valid_samples_});
  log_.resume();
}

Index Pretraining::evaluation_microbatches() const {
  const config::TrainingConfig& training = config_.training;
  return training.eval_iters * (training.global_batch_size /
                                (training.micro_batch_size * config_.parallel.data_parallel_size));
}

MicrobatchStream Pretraining::stream(const std::shared_ptr<const data::Dataset>& dataset,
                                     Index consumed) const {
  return {dataset,
          config_,
          *data_.tokenizer,
          consumed,
          {.data_parallel_rank = model_.groups().data->rank(),
           .data_parallel_size = model_.groups().data->size(),
           .reads = model_.groups().tensor->rank() == 0 &&
                    model_.reads_data(config_.data.reset_attention_mask)}};
}

std::optional<double> Pretraining::evaluate(const std::shared_ptr<const data::Dataset>& dataset,
                                            Index consumed) {
  if (!dataset || config_.training.eval_iters == 0) {
    return std::nullopt;
  }
  MicrobatchStream stream = this->stream(dataset, consumed);
  return step_.evaluate(evaluation_microbatches(), [&] { return stream.next(); }).loss();
}

std::optional<double> Pretraining::unigram_loss() {
  if (data_.sets.valid.empty() || !data_.sets.valid[0] || config_.training.eval_iters == 0) {
    return std::nullopt;
  }
  MicrobatchStream stream(data_.sets.valid[0], config_, *data_.tokenizer, 0);
  UnigramLoss unigram;
  for (Index i = 0; i < evaluation_microbatches() * config_.parallel.data_parallel_size; ++i) {
    unigram.add(stream.next());
  }
  return unigram.loss();
}

void Pretraining::validate(const Progress& progress, bool at_end) {
  log_.pause();
  const TraceScope scope(profile_.trace(), TraceKind::phase, "evaluate");
  const std::string where = fmt::format("iteration {}", progress.iteration);
  for (const auto& dataset : data_.sets.valid) {
    if (const auto loss = evaluate(dataset, at_end ? 0 : consumed_valid_samples_)) {
      log_.validation(at_end ? where + " on validation set" : where, progress, *loss);
    }
  }
  consumed_valid_samples_ += config_.training.eval_iters * config_.training.global_batch_size;
  if (at_end) {
    if (const auto loss = evaluate(data_.sets.test, 0)) {
      log_.validation(where + " on test set", progress, *loss);
    }
  }
  log_.resume();
}

}  // namespace mpitron::train
