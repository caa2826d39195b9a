#include "train/checkpoint_source.h"

#include "checkpoint/agreement.h"
#include "checkpoint/choose.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

using checkpoint::Folder;

/// --load's; none where it has none that could be used, and `why`. A checkpoint without an
/// iteration (a converted model) has weights only.
std::optional<CheckpointSource> to_continue(const config::CheckpointConfig& config,
                                            std::string& why) {
  const Folder folder(*config.load);
  if (config.ckpt_step) {
    return CheckpointSource{checkpoint::verified_file(folder, *config.ckpt_step), config.finetune};
  }
  const checkpoint::Choice choice = checkpoint::newest_verified(folder);
  for (const std::string& skipped : choice.skipped) {
    log::warning("{}", skipped);
    why += "; " + skipped;
  }
  if (!choice.iteration) {
    return std::nullopt;
  }
  return CheckpointSource{folder.file(*choice.iteration), config.finetune || *choice.iteration < 0};
}

std::optional<CheckpointSource> choose(const config::CheckpointConfig& config) {
  std::string why;
  if (config.load) {
    if (auto source = to_continue(config, why)) {
      return source;
    }
  }
  if (config.pretrained_checkpoint) {
    const Folder folder(*config.pretrained_checkpoint);
    if (const checkpoint::Choice choice = checkpoint::newest_verified(folder); choice.iteration) {
      return CheckpointSource{folder.file(*choice.iteration), true};
    }
    throw_data("--pretrained-checkpoint {}: there is no complete checkpoint",
               *config.pretrained_checkpoint);
  }
  if (config.load && !config.allow_random_init && !config.exit_on_missing_checkpoint) {
    throw_data(
        "--load {}: there is no complete checkpoint{}; name the folder that holds iter_*/, or give "
        "--allow-random-init to start from random weights",
        *config.load, why);
  }
  return std::nullopt;
}

}  // namespace

std::optional<CheckpointSource> choose_checkpoint(comm::World& world,
                                                  const config::CheckpointConfig& config) {
  if (!config.load && !config.pretrained_checkpoint) {
    return std::nullopt;
  }
  const std::shared_ptr<comm::Group> all = world.all();
  std::optional<CheckpointSource> source;
  checkpoint::on_member_0(*all, [&] { source = choose(config); });
  const std::string file =
      checkpoint::broadcast_text(*all, source ? source->file.string() : std::string(), 0);
  const bool weights_only = all->reduce(source && source->weights_only ? 1 : 0) > 0;
  return file.empty() ? std::nullopt : std::optional(CheckpointSource{file, weights_only});
}

std::optional<Index> vocabulary_rows(comm::World& world,
                                     const std::optional<CheckpointSource>& source) {
  if (!source) {
    return std::nullopt;
  }
  Index rows = 0;
  const std::shared_ptr<comm::Group> all = world.all();
  checkpoint::on_member_0(*all, [&] {
    const checkpoint::File file(source->file);
    const auto* table = file.find("model/embedding.word_embeddings.weight");
    rows = table != nullptr ? table->shape[0] : 0;
  });
  all->broadcast({&rows, DType::i64, {1}}, 0).wait();
  return rows > 0 ? std::optional(rows) : std::nullopt;
}

}  // namespace mpitron::train
