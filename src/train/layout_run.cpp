#include "train/layout_run.h"

#include <cmath>
#include <mutex>

#include "autograd/shard_copy.h"
#include "train/train_step.h"

namespace mpitron::train {
namespace {

/// An endless corpus: its samples follow from their numbers. Those of BERT and T5 are padded, some
/// more than others, and BERT's parts are swapped in every second one.
class MadeUpCorpus {
 public:
  explicit MadeUpCorpus(const config::ModelConfig& model)
      : model_(model),
        labels_length_(model.decoder_seq_length > 0 ? model.decoder_seq_length : model.seq_length) {
  }

  /// Samples [first, first + count); valid until the next call.
  HostMicrobatch rows(Index first, Index count) {
    for (auto* column :
         {&tokens_, &labels_, &padding_, &types_, &order_, &decoder_, &decoder_padding_}) {
      column->clear();
    }
    mask_.clear();
    for (Index sample = first; sample < first + count; ++sample) {
      add(sample);
    }
    return {.samples = count,
            .sequence_length = model_.seq_length,
            .tokens = tokens_,
            .labels = labels_,
            .position_ids = {},
            .loss_mask = mask_,
            .attention_mask = {},
            .first_sample = first,
            .padding_mask = padding_,
            .token_types = types_,
            .sentence_order = order_,
            .decoder_tokens = decoder_,
            .decoder_padding_mask = decoder_padding_};
  }

 private:
  void add(Index sample) {
    using config::ModelKind;
    const bool padded = model_.kind != ModelKind::gpt, bert = model_.kind == ModelKind::bert;
    const Index length = model_.seq_length - (padded ? sample % 3 : 0);
    const Index labels = labels_length_ - (padded ? sample % 2 : 0);
    for (Index i = 0; i < model_.seq_length; ++i) {
      tokens_.push_back(word(sample, i));
      append_if(padded, padding_, i < length ? 1 : 0);
      append_if(bert, types_, i < length / 2 ? 0 : 1);
    }
    append_if(bert, order_, sample % 2);
    for (Index i = 0; i < labels_length_; ++i) {
      labels_.push_back(word(sample, i + 1));
      mask_.push_back(i < labels ? 1.f : 0.f);
      append_if(model_.kind == ModelKind::t5, decoder_, word(sample, i + 3));
      append_if(model_.kind == ModelKind::t5, decoder_padding_, i < labels ? 1 : 0);
    }
  }
  static void append_if(bool there, std::vector<std::int64_t>& column, std::int64_t value) {
    if (there) {
      column.push_back(value);
    }
  }
  std::int64_t word(Index sample, Index i) const {
    return (7 * sample + 5 * i + i * i) % model_.padded_vocab_size;
  }

  const config::ModelConfig& model_;
  Index labels_length_;
  std::vector<std::int64_t> tokens_, labels_, padding_, types_, order_;
  std::vector<std::int64_t> decoder_, decoder_padding_;
  std::vector<float> mask_;
};

std::vector<StepReport> train(const config::RunConfig& run, TrainedModel& model, TrainStep& step,
                              Index iterations) {
  MadeUpCorpus corpus(run.model);
  const Index batch = run.training.global_batch_size, rows = run.training.micro_batch_size;
  const Index all_rows = rows * model.groups().data->size();
  std::vector<StepReport> reports;
  for (Index iteration = 1; iteration <= iterations; ++iteration) {
    Index first = batch * (iteration - 1) + rows * model.groups().data->rank();
    const auto next = [&] { return corpus.rows(std::exchange(first, first + all_rows), rows); };
    reports.push_back(step.run(iteration, batch / all_rows, batch, next));
  }
  return reports;
}

/// This rank's parts of the weights.
void keep_weights(device::Device& device, TrainedModel& model, LayoutOutcome& outcome) {
  for (const autograd::Parameter& parameter : model.parameters()) {
    const auto [place, is_new] = outcome.weights.try_emplace(parameter.name);
    if (is_new) {
      outcome.names.push_back(parameter.name);
      place->second.resize(static_cast<std::size_t>(parameter.shape.numel()));
    }
    autograd::copy_from_shard(
        device, parameter.value, parameter.shard,
        device::TensorView(place->second.data(), DType::f32, parameter.shape));
  }
}

}  // namespace

LayoutOutcome run_layout(const config::RunConfig& run, Index iterations) {
  LayoutOutcome outcome;
  std::mutex mutex;
  comm::run_thread_world(run.parallel.world_size, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, run, world);
    Timers timers(0, config::TimingLogOption::max);
    TrainStep step(*device, model, run, timers);
    const std::vector<StepReport> reports = train(run, model, step, iterations);
    step.replicas().make_whole();
    world.all()->barrier();
    const std::lock_guard lock(mutex);
    keep_weights(*device, model, outcome);
    if (world.rank() == 0) {
      for (const StepReport& report : reports) {
        outcome.losses.push_back(report.loss());
        for (const auto& [name, loss] : report.other_losses) {
          outcome.losses.push_back(loss);
        }
        outcome.grad_norms.push_back(report.grad_norm);
      }
    }
  });
  return outcome;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) {
    return INFINITY;
  }
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  const double result = std::sqrt(norm > 0 ? difference / norm : difference);
  return std::isnan(result) ? INFINITY : result;
}

}  // namespace mpitron::train
