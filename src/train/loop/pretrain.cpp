#include "train/loop/pretrain.h"

#include "checkpoint/plan/agreement.h"
#include "device/allocator.h"
#include "device/copy.h"
#include "train/log/memory_report.h"
#include "train/loop/reference_pass.h"
#include "train/loop/teacher_pass.h"
#include "train/model/flops.h"
#include "train/run/run_record.h"
#include "utils/log.h"

// The loop itself, one iteration after the other. It owns no mathematics: a step is train_step.cpp,
// what is told is log/, what is saved is checkpointing/, what ends the run is run/, and this file
// says in which order.

namespace mpitron::train {
namespace {

/// Joins the times of all ranks; a barrier stands before each part of a step, unless options say
/// otherwise.
TimerGroup timer_group(device::Device& device, const comm::GroupHandle& all,
                       const config::LoggingConfig& logging) {
  TimerGroup group;
  group.world_size = all->size();
  group.gather = [all](std::span<const float> own) {
    const auto count = static_cast<Index>(own.size());
    std::vector<float> copy(own.begin(), own.end());
    std::vector<float> times(copy.size() * static_cast<std::size_t>(all->size()));
    all->all_gather(device::TensorView(copy.data(), DType::f32, {count}),
                    device::TensorView(times.data(), DType::f32, {count * all->size()}))
        .wait();
    return times;
  };
  if (logging.barrier_with_l1_time && all->size() > 1) {
    group.barrier = [all] { all->barrier(); };
  }
  if (!device.tensors_on_host()) {
    group.settle = [&device] { device::synchronize(device.stream()); };
  }
  return group;
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
      timers_(config.logging.timing_log_level, config.logging.timing_log_option,
              timer_group(device, model.world().all(), config.logging)),
      profile_(device, model.world(), config.training, std::move(trace)),
      num_microbatches_(config.training, config.parallel.data_parallel_size),
      skipped_(skipped_iterations(model.world(), config.training)),
      judge_(model.world(), config),
      step_(device, model, config, traced(timers_, profile_)),
      evaluator_(step_, model, data, config_),
      checkpointing_(model, step_, config, identity, profile_.trace()),
      log_(config, timers_, model.world().rank()),
      record_(config.checkpoint.save, model.world().rank(), config.logging.tensorboard_dir),
      arguments_(identity.arguments) {
  if (config.data.text_task) {
    tasks_.finetuned.emplace(step_, model, data, config_);
  }
  if (config.logging.tensorboard_dir && model.world().rank() == 0) {
    write_run_description(*config.logging.tensorboard_dir, config, identity);
  }
}

/// An error is noted in run_state.json before it goes on, so that a supervisor reads why a run
/// ended.
RunOutcome Pretraining::run(KernelTuning* tuning) {
  tuning_ = tuning;
  try {
    return run_within_memory();
  } catch (const std::exception& error) {
    record_.fail(error);
    throw;
  }
}

/// A device without memory left tells who holds it.
RunOutcome Pretraining::run_within_memory() {
  try {
    return run_to_end();
  } catch (const device::OutOfMemory& error) {
    throw Error(error.code(), fmt::format("{}; {}", error.what(), memory_holders(model_, step_)));
  }
}

/// Loads, trains, evaluates. A run that only writes what it has loaded in another form ends before
/// it trains.
RunOutcome Pretraining::run_to_end() {
  ExitWatch watch(config_, model_.world());
  model_.world().set_phase("loading a checkpoint");
  const std::optional<RunPosition> start = checkpointing_.load();
  if (!start) {
    return {};
  }
  if (config_.checkpoint.convert_to) {
    checkpointing_.convert(*start, *config_.checkpoint.convert_to);
    return {.iteration = start->iteration, .consumed_samples = start->consumed_train_samples};
  }
  if (config_.checkpoint.upcycling_granularity) {
    // As in the reference: a model with experts begins at iteration 1.
    checkpointing_.convert({.iteration = 1}, *config_.checkpoint.save);
    return {.iteration = 1};
  }
  RunOutcome outcome{.iteration = start->iteration,
                     .consumed_samples = start->consumed_train_samples};
  consumed_valid_samples_ = start->consumed_valid_samples;
  first_sample_ = outcome.consumed_samples;
  if (config_.logging.log_progress && config_.checkpoint.save) {
    checkpoint::on_member_0(*model_.world().all(), [&] {
      progress_log_.emplace(*config_.checkpoint.save, config_.parallel.world_size,
                            std::chrono::system_clock::now());
    });
  }
  if (config_.data.distillation.output) {
    TeacherPass(step_, model_, data_, config_).run();
    return outcome;
  }
  if (data_.reference) {
    ReferencePass(step_, model_, data_, config_).run(outcome.iteration == 0);
  }
  log_.begin(outcome.iteration, arguments_);
  record_.begin(outcome.iteration, outcome.consumed_samples, checkpointing_.newest_iteration());
  if (config_.training.skip_train || train(watch, outcome)) {
    validate({outcome.iteration, outcome.consumed_samples, config_.training.global_batch_size},
             true);
    refuse_unsaved_end(outcome.iteration);
    record_.end(outcome.code, "trained to the end");
  }
  step_.replicas().make_whole();
  return outcome;
}

/// Makes one step, of which the gradients may be computed a second time from the same microbatches:
/// where kernels were measured meanwhile, and where a loss or norm was rejected.
StepReport Pretraining::one_iteration(const Progress& before,
                                      std::unique_ptr<MicrobatchStream>& stream,
                                      Index& batch_size) {
  const Index iteration = before.iteration + 1;
  const BatchSize batch = num_microbatches_.at(before.consumed_samples);
  batch_size = batch.running;
  const auto next = [&] { return stream->next(); };
  if (skipped_.contains(iteration)) {
    for (Index i = 0; i < batch.num_microbatches; ++i) {
      next();
    }
    return {.skipped = true};
  }
  const auto compute = [&] {
    return step_.compute_gradients(iteration, batch.num_microbatches, next);
  };
  const auto compute_again = [&] {
    stream = training_stream(before.consumed_samples);
    return compute();
  };
  StepReport report = compute();
  if (tuning_ != nullptr && tuning_->complete()) {
    step_.kernels_changed();
    report = compute_again();
  }
  RerunDecision decision = judge_(iteration, report);
  if (decision.again) {
    report = compute_again();
    decision = judge_(iteration, report);
  }
  if (decision.exit) {
    leave(decision, before);
  }
  step_.update(report, batch.running);
  return report;
}

/// A rejected result ends the run on every rank; where other machines are to decide, the state
/// before this iteration is saved first.
void Pretraining::leave(const RerunDecision& decision, const Progress& before) {
  if (decision.pending && before.iteration > 0 && checkpointing_.last_save() != before.iteration) {
    save(before, SaveKind::persistent);
  }
  checkpointing_.finish();
  note_reached(before);
  judge_.hand_over(decision);
  throw Error(*decision.exit, decision.message, true);
}

/// Trains; false where something other than the last iteration has ended the run (a signal, a time
/// limit).
bool Pretraining::train(ExitWatch& watch, RunOutcome& outcome) {
  if (!data_.sets.train) {
    throw_usage("there is no training data: --split gives the training set nothing");
  }
  if (outcome.iteration > 0 && outcome.iteration >= config_.training.train_iters) {
    log::print(
        fmt::format("iteration {} is reached already: there is nothing to train; a larger "
                    "--train-iters or --train-samples goes on",
                    outcome.iteration));
  }
  auto stream = training_stream(outcome.consumed_samples);
  Progress progress{.iteration = outcome.iteration, .consumed_samples = outcome.consumed_samples};
  while (progress.iteration < config_.training.train_iters) {
    watch.begin_iteration();
    enter_iteration(progress.iteration + 1);
    profile_.begin_step(progress.iteration + 1);
    const StepReport report = one_iteration(progress, stream, progress.batch_size);
    profile_.end_step(++progress.iteration);
    progress.consumed_samples += progress.batch_size;
    log_.iteration(progress, report, step_);
    const auto check = config_.training.check_weight_hash_across_dp_replicas_interval;
    if (check && progress.iteration % *check == 0) {
      step_.check_replicas();
    }
    outcome.iteration = progress.iteration;
    outcome.consumed_samples = progress.consumed_samples;
    checkpointing_.poll();
    note_reached(progress);
    const Index interval = config_.training.eval_interval;
    if (interval > 0 && progress.iteration % interval == 0 &&
        progress.iteration < config_.training.train_iters) {
      validate(progress, false);
    }
    end_epoch(progress);
    const ExitDecision decision =
        watch.end_iteration(progress.iteration, checkpointing_.save_seconds());
    if (!obey(decision, progress, outcome)) {
      return false;
    }
  }
  if (config_.checkpoint.save && progress.iteration > 0 &&
      checkpointing_.last_save() != progress.iteration) {
    save(progress, SaveKind::persistent);
  }
  checkpointing_.finish();
  note_reached(progress);
  return true;
}

void Pretraining::end_epoch(const Progress& progress) {
  if (!tasks_.finetuned) {
    return;
  }
  const Index steps = config_.training.train_iters / config_.data.text_task->epochs;
  if (progress.iteration % steps != 0) {
    return;
  }
  if (config_.checkpoint.save && checkpointing_.last_save() != progress.iteration) {
    save(progress, SaveKind::persistent);
  }
  evaluate_task(progress, progress.iteration / steps - 1);
}

void Pretraining::evaluate_task(const Progress& progress, Index epoch) {
  log_.pause();
  model_.world().set_phase(fmt::format("evaluation after iteration {}", progress.iteration));
  log_.figures(tasks_.finetuned->run(epoch), progress);
  log_.resume();
}

/// Saves and ends as the ranks have agreed; false where the run is over.
bool Pretraining::obey(const ExitDecision& decision, const Progress& progress,
                       RunOutcome& outcome) {
  if (decision.save != SaveKind::none) {
    save(progress, decision.save);
  }
  if (decision.reason == ExitReason::none) {
    return true;
  }
  checkpointing_.finish();
  log::print(datetime_line(decision.message, std::chrono::system_clock::now()));
  outcome.code = exit_code(decision.reason, checkpointing_.saved_iteration() == progress.iteration);
  note_reached(progress);
  if (outcome.code == ExitCode::success) {
    refuse_unsaved_end(progress.iteration);
  }
  record_.end(outcome.code, decision.message);
  return false;
}

/// Tells run_state.json how far the run has come and what can be loaded.
void Pretraining::note_reached(const Progress& progress) {
  record_.reached(progress.iteration, progress.consumed_samples, checkpointing_.newest_iteration());
}

/// A run whose last iteration is in no checkpoint must not look like a success.
void Pretraining::refuse_unsaved_end(Index iteration) const {
  const std::optional<Index> newest = checkpointing_.newest_iteration();
  if (config_.checkpoint.save && iteration > 0 && newest != iteration) {
    throw Error(ExitCode::data,
                fmt::format("--save {}: training has ended at iteration {}, which could not be "
                            "saved; {}",
                            *config_.checkpoint.save, iteration,
                            newest ? fmt::format("--load goes on from iteration {}", *newest)
                                   : "nothing was saved"),
                true);
  }
}

/// Tells the watch over the ranks which iteration begins, so that it can say where a rank is that
/// lets the others wait.
void Pretraining::enter_iteration(Index iteration) {
  model_.world().set_phase(fmt::format("iteration {}", iteration));
}

/// Saves; the time of a save does not count as training.
void Pretraining::save(const Progress& progress, SaveKind kind) {
  log_.pause();
  model_.world().set_phase(fmt::format("saving iteration {}", progress.iteration));
  const TraceScope scope(profile_.trace(), TraceKind::phase, "save-checkpoint");
  checkpointing_.save({.iteration = progress.iteration,
                       .consumed_train_samples = progress.consumed_samples,
                       .consumed_valid_samples = consumed_valid_samples_},
                      kind);
  note_progress(progress);
  log_.resume();
}

/// Notes progress in a file; a full disk here does not end a training either.
void Pretraining::note_progress(const Progress& progress) {
  if (!progress_log_) {
    return;
  }
  const auto flops = [&](Index samples) { return flops_per_iteration(config_.model, samples); };
  try {
    progress_log_->saved(
        {.iteration = progress.iteration,
         .asynchronous = config_.checkpoint.async_save,
         .job_flops = flops(progress.consumed_samples - first_sample_),
         .flops = flops(progress.consumed_samples),
         .tokens = static_cast<double>(progress.consumed_samples * config_.training.seq_length)},
        std::chrono::system_clock::now());
  } catch (const Error& error) {
    log::warning("{}", error.what());
  }
}

/// Makes the stream of training data; it is a pure function of the consumed samples, so a second
/// one reads the same again.
std::unique_ptr<MicrobatchStream> Pretraining::training_stream(Index consumed) const {
  return std::make_unique<MicrobatchStream>(data_.sets.train, config_, data_, consumed,
                                            share_of(model_));
}

/// Evaluates on the next samples of every validation set; at the end of the run from their first
/// sample on, and on the test set as well.
void Pretraining::validate(const Progress& progress, bool at_end) {
  if (tasks_.finetuned && at_end) {
    if (config_.training.skip_train) {
      evaluate_task(progress, -1);
    }
    return;
  }
  log_.pause();
  model_.world().set_phase(fmt::format("evaluation after iteration {}", progress.iteration));
  const TraceScope scope(profile_.trace(), TraceKind::phase, "evaluate");
  const std::string where = fmt::format("iteration {}", progress.iteration);
  const auto reports = evaluator_.on_validation_sets(at_end ? 0 : consumed_valid_samples_);
  for (std::size_t set = 0; set < reports.size(); ++set) {
    if (reports[set]) {
      ValidationReport report{.where = at_end ? where + " on validation set" : where,
                              .losses = reports[set]->all_losses()};
      if (config_.training.multiple_validation_sets) {
        report.set = static_cast<Index>(set);
      }
      log_.validation(report, progress);
    }
    consumed_valid_samples_ += validation_of(data_.sets.valid[set], config_.training, 0).samples();
  }
  if (tasks_.measure) {
    log_.figures(tasks_.measure(), progress);
  }
  if (at_end) {
    if (const auto report = evaluator_.on_test_set()) {
      log_.validation(
          {.where = where + " on test set", .losses = report->all_losses(), .test = true},
          progress);
    }
  }
  log_.resume();
}

}  // namespace mpitron::train
