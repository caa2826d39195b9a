#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules that only a training run has: data, ranks to profile, tokenizers. `plan`, `replay` and
// `parity` do without them.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result data_are_named(const Facts& f) {
  const DataConfig& d = f.run.data;
  return d.data_path.empty() && d.train_data_path.empty() && !d.mock_data && !d.text_task
             ? Violation{"none of them is given", "--data-path PREFIX (of .bin and .idx)"}
             : Result();
}

Result mock_data_are_tokens(const Facts& f) {
  const SampleKind samples = f.run.model.family().samples;
  if (!f.run.data.mock_data || samples == SampleKind::texts) {
    return {};
  }
  return Violation{"--mock-data is given",
                   samples == SampleKind::images        ? "--data-path TRAIN VALIDATION (folders)"
                   : samples == SampleKind::image_texts ? "--data-path FILE (JSON lines)"
                                                        : "--data-path PREFIX (of .bin and .idx)"};
}

Result sample_of_a_whole_model(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const Index shares =
      p.tensor_model_parallel_size * p.pipeline_model_parallel_size * p.context_parallel_size;
  return f.run.logging.sample_prompt && shares > 1
             ? Violation{fmt::format("the model lies on {} ranks", shares), ""}
             : Result();
}

Result profiled_ranks(const Facts& f) {
  const TrainingConfig& t = f.run.training;
  const Index ranks = f.values.integer("world_size");
  const auto outside = [ranks](Index rank) { return rank < 0 || rank >= ranks; };
  const auto wrong = std::ranges::find_if(t.profile_ranks, outside);
  return t.profile && wrong != t.profile_ranks.end()
             ? Violation{fmt::format("rank {} of {}", *wrong, ranks), "--profile-ranks 0"}
             : Result();
}

Result skipped_iterations(const Facts& f) {
  const std::vector<Index>& skipped = f.run.training.iterations_to_skip;
  const auto wrong = std::ranges::find_if(skipped, [](Index iteration) { return iteration < 1; });
  return wrong != skipped.end() ? Violation{fmt::format("{}", *wrong), "--iterations-to-skip 1"}
                                : Result();
}

Result graphs_need_a_gpu(const Facts& f) {
  const std::string& device = f.run.training.device;
  return f.values.given("enable_cuda_graph") && (device == "host" || device == "reference")
             ? Violation{fmt::format("--device {}", device), "--device auto"}
             : Result();
}

/// Asks for the files of the script's own tokenizer, as of a given one; the message says where it
/// comes from.
Result default_tokenizer_files(const Facts& f) {
  Result missing;
  if (!f.values.given("tokenizer_type")) {
    missing = missing_tokenizer_files(f.run.data);
  }
  if (missing) {
    const OptionIndex& index = option_index();
    missing->values +=
        fmt::format(" ({})", to_text(f.values.origin_at(index.slot_of_dest("tokenizer_type"))));
    missing->nearest += " | --tokenizer-type TYPE";
  }
  return missing;
}

constexpr std::array kTrainingRules = std::to_array<Constraint>({
    {"E220", "data_are_named", "a training run reads --data-path, --train-data-path or --mock-data",
     "data-path train-data-path mock-data", "There is nothing to train on otherwise.",
     data_are_named},
    {"E221", "mock_data_are_tokens",
     "mock data are running text: BERT, T5 and models of images read files", "mock-data data-path",
     "Mock data have neither ends of sentences, where BERT and T5 cut their samples, nor images.",
     mock_data_are_tokens},
    {"E222", "sample_of_a_whole_model",
     "--sample-prompt needs tensor, pipeline and context parallel sizes of 1",
     "sample-prompt tensor-model-parallel-size pipeline-model-parallel-size "
     "context-parallel-size",
     "The sample at the end of a run is written by a model that lies whole on one rank.",
     sample_of_a_whole_model},
    {"E223", "profiled_ranks", "0 <= profile_ranks < world_size", "profile-ranks",
     "Only ranks of this run can be profiled.", profiled_ranks},
    {"E224", "skipped_iterations", "iterations count from 1", "iterations-to-skip",
     "Iteration 1 is the first update of a run.", skipped_iterations},
    {"E225", "graphs_need_a_gpu", "--enable-cuda-graph needs a GPU", "enable-cuda-graph device",
     "A CUDA graph records what is launched on a GPU.", graphs_need_a_gpu},
    {"E340", "default_tokenizer_files", "without --tokenizer-type the script's own needs its files",
     "tokenizer-type vocab-file merge-file",
     "As the reference's scripts do, pretrain-gpt and pretrain-mamba take GPT2BPETokenizer, "
     "pretrain-bert and pretrain-t5 BertWordPieceLowerCase where no tokenizer is named.",
     default_tokenizer_files},
});

}  // namespace

std::span<const Constraint> training_constraints() {
  return kTrainingRules;
}

}  // namespace mpitron::config
