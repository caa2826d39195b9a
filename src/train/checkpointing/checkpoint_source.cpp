#include "train/checkpointing/checkpoint_source.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "checkpoint/folders/folder.h"
#include "checkpoint/plan/agreement.h"
#include "utils/error.h"

namespace mpitron::train {
namespace {

using checkpoint::Folder;

void expect_folder(const char* option, const std::string& path) {
  if (std::filesystem::exists(path) && !std::filesystem::is_directory(path)) {
    throw_data("{} {}: is no folder; name the one that holds iter_*/", option, path);
  }
}

/// Newest first.
void add_all(const Folder& folder, bool weights_only, std::vector<CheckpointSource>& sources) {
  for (const Index iteration : folder.iterations()) {
    sources.push_back({.iteration = iteration,
                       .file = folder.file(iteration),
                       .weights_only = weights_only || iteration < 0});
  }
}

/// All that can be loaded, the newest first; behind what is resumed stands what only gives its
/// weights.
std::vector<CheckpointSource> find(const config::CheckpointConfig& config) {
  std::vector<CheckpointSource> sources;
  const auto newer = [](const CheckpointSource& a, const CheckpointSource& b) {
    return a.iteration > b.iteration;
  };
  if (config.load && config.ckpt_step) {
    return {{.iteration = *config.ckpt_step,
             .file = checkpoint::existing_file(Folder(*config.load), *config.ckpt_step),
             .weights_only = config.finetune}};
  }
  if (config.load) {
    expect_folder("--load", *config.load);
    add_all(Folder(*config.load), config.finetune, sources);
    if (config.non_persistent.global) {
      add_all(Folder(*config.non_persistent.global_folder), config.finetune, sources);
    }
    std::stable_sort(sources.begin(), sources.end(), newer);
  }
  if (config.pretrained_checkpoint) {
    expect_folder("--pretrained-checkpoint", *config.pretrained_checkpoint);
    std::vector<CheckpointSource> pretrained;
    add_all(Folder(*config.pretrained_checkpoint), true, pretrained);
    std::stable_sort(pretrained.begin(), pretrained.end(), newer);
    sources.insert(sources.end(), pretrained.begin(), pretrained.end());
  }
  return sources;
}

}  // namespace

/// Rank 0 looks and tells the others, so that all try the same ones.
std::vector<CheckpointSource> checkpoint_sources(comm::World& world,
                                                 const config::CheckpointConfig& config) {
  const std::shared_ptr<comm::Group> all = world.all();
  std::string lines;
  checkpoint::on_member_0(*all, [&] {
    for (const CheckpointSource& source : find(config)) {
      lines += fmt::format("{} {} {}\n", source.iteration, source.weights_only ? 1 : 0,
                           source.file.string());
    }
  });
  std::vector<CheckpointSource> sources;
  std::istringstream stream(checkpoint::broadcast_text(*all, lines, 0));
  CheckpointSource source;
  while (stream >> source.iteration >> source.weights_only) {
    std::string file;
    std::getline(stream.ignore(), file);
    source.file = file;
    sources.push_back(source);
  }
  return sources;
}

/// A command that loads from where it saves is given again after a failure; the first time there is
/// nothing to load.
bool is_first_start(const config::CheckpointConfig& config) {
  if (!config.load || !config.save || config.ckpt_step) {
    return false;
  }
  const auto path = [](const std::string& folder) {
    return (std::filesystem::path(folder) / "").lexically_normal();
  };
  return path(*config.load) == path(*config.save) && Folder(*config.load).iterations().empty() &&
         !Folder(*config.load).tracked();
}

/// Returns the rows of the table of words in the checkpoint; absent where there is no checkpoint or
/// no table.
std::optional<Index> vocabulary_rows(comm::World& world,
                                     const std::vector<CheckpointSource>& sources) {
  Index rows = 0;
  for (std::size_t i = 0; world.rank() == 0 && rows == 0 && i < sources.size(); ++i) {
    try {
      const checkpoint::File file(sources[i].file);
      const auto* table = file.find("model/embedding.word_embeddings.weight");
      rows = table != nullptr ? table->shape[0] : 0;
    } catch (const Error&) {
      rows = 0;  // whoever loads it says what is wrong
    }
  }
  world.all()->broadcast({&rows, DType::i64, {1}}, 0).wait();
  return rows > 0 ? std::optional(rows) : std::nullopt;
}

}  // namespace mpitron::train
