#include "train/session/session.h"

#include <cmath>

#include "config/parse/report.h"
#include "train/checkpointing/base_weights.h"
#include "train/checkpointing/checkpoint_source.h"
#include "train/checkpointing/load_differences.h"
#include "train/loop/evaluation.h"
#include "train/model/optimizer_table.h"
#include "utils/log.h"

// Members are made in the order in which they need each other: the data before the model, since it
// knows the vocabulary, and the loop with its checkpoints last.

namespace mpitron::train {
namespace {

/// Returns the rows of the vocabulary: the checkpoint's where they fit the tokenizer and the
/// layout, so that the loss continues unchanged, else the padded size of the tokenizer's
/// vocabulary.
Index vocabulary_rows_of_run(const config::RunConfig& config, Index vocab_size,
                             std::optional<Index> rows) {
  const bool fits =
      rows && *rows >= vocab_size && *rows % config.parallel.tensor_model_parallel_size == 0;
  return fits && !config.data.padded_vocab_size ? *rows : padded_vocab_size(config, vocab_size);
}

RunIdentity identity_of(const config::ParsedRun& parsed, const std::string& build,
                        const tokenizers::Tokenizer& tokenizer) {
  return {.configuration = config::values_json(parsed.values, false),
          .build = build,
          .files = tokenizer_files(tokenizer),
          .vocabulary = tokenizer.vocab_size(),
          .accepts_changes = parsed.values.flag("accept_changes"),
          .given = config::given_values_json(parsed.values),
          .arguments = config::display_values(parsed.values)};
}

}  // namespace

Session::Session(const config::ParsedRun& parsed, device::Device& device,
                 std::shared_ptr<comm::World> world, const std::string& build,
                 std::shared_ptr<Trace> trace, const std::shared_ptr<const ForeignWeights>& foreign)
    : config_(parsed.run),
      device_(device),
      world_(std::move(world)),
      kernels_(device_, config_.training, config_.model.attention_backend),
      tuning_(device_, *world_, config_),
      data_(make_training_data(config_)) {
  const auto sources = checkpoint_sources(*world_, config_.checkpoint);
  std::optional<Index> rows = vocabulary_rows(*world_, sources);
  if (!rows && foreign) {
    rows = foreign->vocabulary_rows;
  }
  config_.model.padded_vocab_size =
      vocabulary_rows_of_run(config_, data_.tokenizer->vocab_size(), rows);
  print_data();
  if (config_.checkpoint.load_adapter) {
    config_.model.lora = adapter_config(io::PeftFolder(*config_.checkpoint.load_adapter),
                                        config_.model.lora->base_in_4_bits);
  }
  model_ = std::make_unique<TrainedModel>(device_, config_, *world_);
  log::print(parameter_count_line(model_->groups().tensor->rank(), model_->stage(),
                                  model_->parameters().numel()));
  if (optim::takes_matrices(config_.optimizer.optimizer)) {
    log::print(optimizer_table(config_, device_));
  }
  pretraining_ =
      std::make_unique<Pretraining>(device_, *model_, data_, config_,
                                    identity_of(parsed, build, *data_.tokenizer), std::move(trace));
  pretraining_->begin_with(foreign);
}

RunOutcome Session::run() {
  const RunOutcome outcome = pretraining_->run(&tuning_);
  if (outcome.code == ExitCode::success && config_.logging.unigram_baseline) {
    print_unigram_baseline();
  }
  return outcome;
}

void Session::print_data() const {
  const auto size = [](const std::shared_ptr<const data::Dataset>& set) {
    return set ? set->size() : 0;
  };
  std::string valid;
  for (const auto& set : data_.sets.valid) {
    valid += fmt::format("{}{}", valid.empty() ? "" : " + ", size(set));
  }
  const Index vocab_size = data_.tokenizer->vocab_size(), padded = config_.model.padded_vocab_size;
  if (config_.model.family().has_words()) {
    log::print(fmt::format(" > padded vocab (size: {}) with {} dummy tokens (new size: {})",
                           vocab_size, padded - vocab_size, padded));
  }
  log::print(fmt::format(" > samples: train {}, validation {}, test {}", size(data_.sets.train),
                         valid.empty() ? "0" : valid, size(data_.sets.test)));
}

void Session::print_unigram_baseline() const {
  if (const auto loss = unigram_loss(data_, config_)) {
    log::print(
        fmt::format(" best unigram model of the validation tokens | lm loss value: {:.6E} | lm "
                    "loss PPL: {:.6E} |",
                    *loss, std::exp(*loss)));
  }
}

}  // namespace mpitron::train
