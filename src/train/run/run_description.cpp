#include "train/run/run_description.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "train/model/flops.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace {

using Json = nlohmann::ordered_json;

Json layout(const config::ParallelConfig& p) {
  return {{"tensor", p.tensor_model_parallel_size},
          {"pipeline", p.pipeline_model_parallel_size},
          {"context", p.context_parallel_size},
          {"expert", p.expert_model_parallel_size},
          {"data", p.data_parallel_size}};
}

Json options(const std::string& text) {
  return text.empty() ? Json::object() : Json::parse(text);
}

}  // namespace

/// run.json beside the metrics: what a report says of a run without its log.
void write_run_description(const std::filesystem::path& folder, const config::RunConfig& config,
                           const RunIdentity& identity) {
  const config::TrainingConfig& training = config.training;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Json json = {
      {"started", std::chrono::duration<double>(now).count()},
      {"build", identity.build},
      {"world_size", config.parallel.world_size},
      {"layout", layout(config.parallel)},
      {"train_iters", training.train_iters},
      {"seq_length", training.seq_length},
      {"global_batch_size", training.global_batch_size},
      {"flops_per_sample", flops_per_iteration(config.model, 1)},
      {"given", options(identity.given)},
      {"options", options(identity.configuration)},
  };
  if (config.checkpoint.save) {
    json["save"] = std::filesystem::absolute(*config.checkpoint.save).string();
  }
  make_folder("--tensorboard-dir", folder);
  AtomicFile file(folder / "run.json");
  file.write(json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
  file.commit();
}

}  // namespace mpitron::train
