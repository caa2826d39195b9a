#include "train/step/train_step.h"

#include <algorithm>

#include "kernels/experts/router_loss.h"
#include "parallel/flat_memory.h"
#include "parallel/joined_data_parallel.h"
#include "parallel/weight_hash.h"
#include "tensor/host_copy.h"
#include "train/model/optimizer_table.h"

// One iteration: gradients of all microbatches, sums over replicas, the update, what is told of it.
// Everything that must happen around a step for all ranks alike (scales, biases of routers,
// averages, freezing) is called from here in a fixed order.

namespace mpitron::train {
namespace {

/// The replicas of this rank's experts, or of its other parameters: with sharing, those within one
/// instance share, and the instances hold the same.
parallel::ReplicaGroups replica_groups(const TrainedModel& model,
                                       const parallel::DataParallelOptions& options, bool experts) {
  const comm::ParallelGroups& groups = model.groups();
  if (options.sharding == parallel::Sharding::none) {
    return {.shard = model.world().make_group("alone", {model.world().rank()}),
            .replicas = experts ? groups.expert_data : groups.data_context};
  }
  return experts ? parallel::ReplicaGroups{groups.expert_optimizer_instance,
                                           groups.expert_optimizer_replicas}
                 : parallel::ReplicaGroups{groups.optimizer_instance, groups.optimizer_replicas};
}

/// Those of experts, or all others; of either what is trained.
std::vector<autograd::Parameter*> parameters_of(TrainedModel& model, bool experts) {
  return model.parameters().where([experts](const autograd::Parameter& parameter) {
    return parameter.placement.expert == experts && !parameter.role.frozen;
  });
}

/// Experts have replicas of their own where they are shared out over ranks.
std::unique_ptr<parallel::DataParallel> make_replicas(device::Device& device, TrainedModel& model,
                                                      const config::RunConfig& config) {
  const parallel::DataParallelOptions options =
      parallel::data_parallel_options(config, model.parameters().numel());
  auto dense = parallel::make_data_parallel(device, parameters_of(model, false), options,
                                            replica_groups(model, options, false));
  const std::vector<autograd::Parameter*> experts = parameters_of(model, true);
  if (experts.empty()) {
    return dense;
  }
  return std::make_unique<parallel::JoinedDataParallel>(
      std::move(dense),
      parallel::make_data_parallel(device, experts, options, replica_groups(model, options, true)));
}

/// Under which name and where in the whole a checkpoint keeps it.
tensor::ShardedTensor place_of(const parallel::ParameterPiece& piece) {
  const autograd::Parameter& parameter = *piece.parameter;
  return {.name = parameter.name,
          .shape = parameter.shape,
          .shard = parameter.placement.shard,
          .begin = piece.begin,
          .value = piece.value.view(),
          .rows_may_differ = parameter.role.embedding_or_output,
          .saved_elsewhere = parameter.placement.counted_elsewhere};
}

std::vector<autograd::Parameter*> frozen_parameters(TrainedModel& model) {
  return model.parameters().where(
      [](const autograd::Parameter& parameter) { return parameter.role.frozen; });
}

/// Whole pieces of what is in none, because it keeps its value; one in 4 bits has no memory for it.
tensor::ShardedTensor place_of_frozen(autograd::Parameter* parameter) {
  tensor::ShardedTensor place = place_of({.parameter = parameter});
  place.name = "model/" + place.name;
  const Shape all = {parameter->local_shape().numel()};
  place.value = parameter->four_bits ? device::TensorView(nullptr, parameter->four_bits->dtype, all)
                                     : parameter->value.reshape(all).view();
  return place;
}

/// Whether this rank counts a parameter in sums over all of them.
bool counts_here(const TrainedModel& model, const autograd::Parameter& parameter) {
  const comm::ParallelGroups& groups = model.groups();
  const auto& sharing = parameter.placement.expert ? groups.expert_tensor : groups.tensor;
  return parameter.counts_in_norm(sharing->rank());
}

/// What the optimizer is told of each piece; "head." gets the learning rate of --head-lr-mult.
std::vector<optim::TrainedTensor> trained_tensors(const TrainedModel& model,
                                                  const parallel::DataParallel& replicas) {
  std::vector<optim::TrainedTensor> tensors;
  for (const parallel::ParameterPiece& piece : replicas.pieces()) {
    const autograd::Parameter& parameter = *piece.parameter;
    tensors.push_back({.traits = traits_of(parameter),
                       .value = piece.value,
                       .main_grad = piece.main_grad,
                       .counted = piece.counted && counts_here(model, parameter),
                       .place = place_of(piece)});
  }
  return tensors;
}

/// What the ranks add up of an objective.
struct ObjectiveTotal {
  double loss = 0;    // of tokens, or the means of microbatches
  double count = 0;   // of these
  double tokens = 0;  // that the mask counts
  double mean() const { return count > 0 ? loss / count : 0; }
};

device::TensorView numbers_of(std::vector<ObjectiveTotal>& totals) {
  constexpr Index kNumbers = sizeof(ObjectiveTotal) / sizeof(double);
  return {totals.data(), DType::f64, {static_cast<Index>(totals.size()) * kNumbers}};
}

/// Of a sequence a rank has its context parallel piece, of that between layers its tensor parallel
/// one.
StageRunner::Options runner_options(const config::RunConfig& config, const TrainedModel& model) {
  const config::ModelConfig& m = config.model;
  const Index pieces = model.groups().context->size() *
                       (model.groups().sequence_parallel ? model.groups().tensor->size() : 1);
  return {// An encoder-decoder's stages pass both streams on, one behind the other.
          .hidden = {.shape = {(m.seq_length + m.decoder_seq_length) / pieces,
                               config.training.micro_batch_size, m.hidden_size},
                     .dtype = m.fp32_residual_connection ? DType::f32 : m.params_dtype},
          .passes = {.per_token_loss = config.training.calculate_per_token_loss,
                     .seed = static_cast<std::uint64_t>(config.training.seed),
                     .deferred_outputs = config.parallel.deferred_embedding_wgrads,
                     .cut_passes = config.parallel.overlap_moe_expert_parallel_comm,
                     .delay_weights = config.parallel.delay_wgrad_compute,
                     .offloaded_layers = config.training.cpu_offloading_num_layers},
          .schedule = pipeline::make_schedule_options(config.parallel, model.layout(), 1),
          .graph_warmup_steps = config.training.cuda_graph_warmup_steps};
}

}  // namespace

TrainStep::TrainStep(device::Device& device, TrainedModel& model, const config::RunConfig& config,
                     Timers& timers)
    : device_(device),
      model_(model),
      config_(config),
      timers_(timers),
      averages_(device, model.parameters()),
      replicas_(make_replicas(device, model, config)),
      optimizer_(device, config.optimizer, trained_tensors(model, *replicas_),
                 {model.world().all(), model.groups().tensor_data_context}),
      scheduler_(config.optimizer),
      scaler_(optim::make_loss_scaler(config.optimizer)),
      fp8_histories_(device, model.parameters(),
                     config.model.fp8 && config.model.fp8->largest_of_history),
      fp8_weights_(device, model.parameters(), keeps_fp8_weights(config)),
      runner_(device, model, *replicas_, runner_options(config, model), timers),
      tracked_(config, model.groups()) {
  if (config_.model.qk_clip || config_.model.log_max_attention_logit) {
    qk_clip_.emplace(config_.model);
  }
}

std::vector<LossSums> TrainStep::play(const BatchPass& pass, const NextMicrobatch& next) {
  fp8_weights_.begin_pass();
  return runner_.run(pass, next);
}

/// Every rank of the last stages counts its tokens; ranks of a tensor group hold the same ones.
void TrainStep::report_loss(const std::vector<LossSums>& sums, StepReport& report) const {
  const bool counts = model_.has_output() && model_.groups().tensor->rank() == 0;
  const auto traits = model_.chunk(0).objective_traits();
  std::vector<ObjectiveTotal> totals;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const LossSums& own = sums[i];
    const bool of_means = traits[i].mean_of_means || config_.data.sft;
    totals.push_back({.loss = of_means ? own.means : own.loss,
                      .count = of_means ? own.microbatches : own.tokens,
                      .tokens = own.tokens});
  }
  if (!counts) {
    totals.assign(sums.size(), {});
  }
  model_.world().all()->all_reduce(numbers_of(totals)).wait();
  report.loss_name = traits[0].name;
  report.tokens = totals[0].tokens;
  report.loss_sum = totals[0].loss;
  report.loss_count = totals[0].count;
  for (std::size_t i = 1; i < sums.size(); ++i) {
    report.other_losses.emplace_back(traits[i].name, totals[i].mean());
  }
}

StepReport TrainStep::run(Index iteration, Index num_microbatches, Index batch_size,
                          const NextMicrobatch& next) {
  StepReport report = compute_gradients(iteration, num_microbatches, next);
  update(report, batch_size);
  return report;
}

/// Leaves everything that is saved as it was, so that it can be called again.
StepReport TrainStep::compute_gradients(Index iteration, Index num_microbatches,
                                        const NextMicrobatch& next) {
  StepReport report{.loss_scale = scaler_.scale()};
  begin_models(iteration);
  const bool per_token = config_.training.calculate_per_token_loss;
  // The mean over all replicas' microbatches is taken here and not in the sum of the gradients, so
  // that gradients of half precision overflow in every layout where they do on one rank.
  const double parts = static_cast<double>(num_microbatches * model_.groups().data_context->size());
  const double seed_scale = per_token ? scaler_.scale() : scaler_.scale() / parts;
  {
    const TimerScope scope = timers_.scope("forward-backward", 1);
    replicas_->begin_step();
    const BatchPass pass{
        .iteration = iteration, .num_microbatches = num_microbatches, .seed_scale = seed_scale};
    report_loss(play(pass, next), report);
    report.layers = tracked_.report(runner_.layer_sums(), num_microbatches, *model_.world().all());
    if (qk_clip_) {
      report.max_attention_logit = qk_clip_->collect(runner_.layer_sums(), *model_.world().all());
    }
    replicas_->finish_step();
    for (const GradientCompletion& sum : completions()) {
      parallel::sum_together(device_, *sum.group, sum.gradients);
    }
  }
  const TimerScope scope = timers_.scope("optimizer-clip-main-grad", 1);
  const auto gradients = replicas_->gradients(
      [this](const autograd::Parameter& parameter) { return counts_here(model_, parameter); });
  report.grad_norm = optimizer_.gradient_norm(step_inputs(report, gradients));
  return report;
}

/// Gradients are divided by the loss scale and, with per-token loss, by the tokens of the batch.
optim::StepInputs TrainStep::step_inputs(const StepReport& report,
                                         std::span<const tensor::ConstTensorView> gradients) {
  const double tokens =
      config_.training.calculate_per_token_loss ? std::max(report.tokens, 1.0) : 1.0;
  return {.gradients = gradients,
          .gradient_scale = static_cast<float>(1.0 / (scaler_.scale() * tokens)),
          .check_overflow = scaler_.skips_overflows(),
          .updated = [this](std::size_t piece) {
            replicas_->piece_updated(piece);
            model_.world().progress();
          }};
}

/// Schedules advance and parameters travel only where an update was made; the loss scale learns of
/// every overflow.
void TrainStep::update(StepReport& report, Index batch_size) {
  report.learning_rate = scheduler_.learning_rate();
  report.weight_decay = scheduler_.weight_decay();
  const TimerScope scope = timers_.scope("optimizer", 1);
  before_update_();
  update_expert_biases(report.layers);
  fp8_histories_.update(model_.groups());
  optim::StepInputs inputs = step_inputs(report, {});
  inputs.grad_norm = report.grad_norm;
  report.skipped = optimizer_.step(inputs, scheduler_).skipped;
  scaler_.update(report.skipped);
  if (!report.skipped) {
    if (qk_clip_) {
      qk_clip_->apply(optimizer_, replicas_->pieces());
    }
    replicas_->gather_parameters();
    scheduler_.advance(batch_size);
  }
  end_models(iteration_);
}

void TrainStep::begin_models(Index iteration) {
  iteration_ = iteration;
  for (Index i = 0; i < model_.chunks(); ++i) {
    model_.chunk(i).begin_step(iteration);
  }
  for (std::size_t i = 0; i < replicas_->pieces().size(); ++i) {
    optimizer_.hold(i, replicas_->pieces()[i].parameter->role.held);
  }
}

/// As in the reference also where the update was skipped.
void TrainStep::end_models(Index iteration) {
  if (!averages_.empty()) {
    replicas_->make_whole();
    averages_.update(model_.chunk(0).average_momentum(iteration));
  }
  for (Index i = 0; i < model_.chunks(); ++i) {
    model_.chunk(i).end_step();
  }
}

std::vector<GradientCompletion> TrainStep::completions() const {
  std::vector<GradientCompletion> all;
  const auto add = [&](comm::Group& group, const auto& concerns) {
    GradientCompletion& one = all.emplace_back(GradientCompletion{.group = &group});
    for (const parallel::ParameterPiece& piece : replicas_->pieces()) {
      if (concerns(*piece.parameter)) {
        one.gradients.push_back(piece.main_grad);
      }
    }
  };
  const comm::ParallelGroups& groups = model_.groups();
  for (const bool experts : {false, true}) {
    add(experts ? *groups.expert_tensor : *groups.tensor,
        [experts](const autograd::Parameter& parameter) {
          return parameter.placement.sum_over_tensor && parameter.placement.expert == experts;
        });
  }
  if (const autograd::Parameter* shared = model_.shared_embedding()) {
    add(*groups.embedding,
        [shared](const autograd::Parameter& parameter) { return &parameter == shared; });
  }
  return all;
}

/// The bias of an expert rises with fewer tokens than the mean and falls with more (Wang et al.
/// 2024).
void TrainStep::update_expert_biases(const LayerReport& layers) {
  for (const autograd::Buffer& bias : model_.parameters().buffers()) {
    if (bias.fp8_history || bias.layer == 0) {
      continue;
    }
    const std::vector<double>& tokens = layers.expert_tokens.at(bias.layer);
    const Index experts = bias.shape[0];
    const tensor::Tensor known = tensor::empty_on_host(device_, {experts}, DType::f64);
    std::ranges::copy(tokens, known.data<double>());
    const tensor::Tensor counts = tensor::to_device(device_, known);
    device::launch(
        device_.stream(),
        kernels::ExpertBiasUpdate{.tokens = counts.view(),
                                  .bias = bias.value.view(),
                                  .rate = static_cast<float>(config_.model.moe->bias_update_rate)});
  }
}

/// Pieces by their owner; of a run with low-rank updates the weights under them are left out.
void TrainStep::visit_model(tensor::StateVisitor& visitor) const {
  for (const parallel::ParameterPiece& piece : replicas_->pieces()) {
    tensor::ShardedTensor place = place_of(piece);
    place.name = "model/" + place.name;
    visitor.tensor(place);
  }
  if (!config_.model.lora) {
    visit_kept(visitor);
    return;
  }
  visit_buffers(visitor);
}

void TrainStep::visit_kept(tensor::StateVisitor& visitor) const {
  for (autograd::Parameter* const parameter : frozen_parameters(model_)) {
    visitor.tensor(place_of_frozen(parameter));
  }
  visit_buffers(visitor);
}

void TrainStep::visit_buffers(tensor::StateVisitor& visitor) const {
  for (const autograd::Buffer& buffer : model_.parameters().buffers()) {
    visitor.tensor({.name = (buffer.fp8_history ? "fp8/" : "model/") + buffer.name,
                    .shape = buffer.shape,
                    .value = buffer.value.view()});
  }
}

/// State of the own pieces, the loss scale and the position of the schedules.
void TrainStep::visit_optimizer(tensor::StateVisitor& visitor) {
  optimizer_.visit_state(visitor);
  averages_.visit_masters(visitor);
  scaler_.visit_state([&](const char* name, auto& value) {
    visitor.number(std::string("loss_scaler/") + name, value);
  });
  optim::SchedulerState schedules = scheduler_.state();
  schedules.visit_state([&](const char* name, auto& value) {
    const std::string path = std::string("opt_param_scheduler/") + name;
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(value)>, std::string>) {
      visitor.text(path, value);
    } else {
      visitor.number(path, value);
    }
  });
  scheduler_.restore(schedules, optim::schedule_conflict(config_.optimizer));
}

void TrainStep::values_loaded(bool masters_too) {
  optimizer_.state_loaded(masters_too);
  averages_.state_loaded(masters_too);
  replicas_->gather_parameters();
}

void TrainStep::logits(const HostMicrobatch& microbatch, const VisitLogits& visit,
                       autograd::Mode mode) {
  play({.on_logits = visit, .mode = mode, .micro_batch_size = microbatch.samples},
       [&] { return microbatch; });
}

void TrainStep::objectives(const HostMicrobatch& microbatch, const VisitObjectives& visit) {
  play({.on_objectives = visit, .micro_batch_size = microbatch.samples},
       [&] { return microbatch; });
}

void TrainStep::check_replicas() {
  replicas_->make_whole();
  const comm::ParallelGroups& groups = model_.groups();
  parallel::check_weight_hashes(device_, parameters_of(model_, false), *groups.data_context);
  parallel::check_weight_hashes(device_, parameters_of(model_, true), *groups.expert_data);
}

StepReport TrainStep::evaluate(Index num_microbatches, const NextMicrobatch& next) {
  StepReport report;
  report_loss(play({.num_microbatches = num_microbatches}, next), report);
  return report;
}

}  // namespace mpitron::train
