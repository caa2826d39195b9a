#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of the language model behind the images of a vision language model.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// A row of packed samples is the whole microbatch, and as long as a sequence.
Result packed_rows(const Facts& f) {
  const std::optional<VlmConfig>& v = f.run.model.vlm;
  if (!v || !f.values.given("packing_buffer_size")) {
    return {};
  }
  const Index length = f.values.maybe_integer("packing_seq_length").value_or(0);
  if (v->packing_window < 1 || (length > 0 && length != f.run.model.seq_length)) {
    return Violation{fmt::format("packing_buffer_size {}, packing_seq_length {}, seq_length {}",
                                 v->packing_window, length, f.run.model.seq_length),
                     fmt::format("--packing-seq-length {}", f.run.model.seq_length)};
  }
  return f.run.training.micro_batch_size == 1
             ? Result()
             : Violation{fmt::format("micro_batch_size {}", f.run.training.micro_batch_size),
                         "--micro-batch-size 1"};
}

Result plain_language_model(const Facts& f) {
  static constexpr std::array kOptions = {"mtp_num_layers",
                                          "multi_latent_attention",
                                          "num_experts",
                                          "fp8",
                                          "use_cpu_initialization",
                                          "reset_attention_mask",
                                          "reset_position_ids",
                                          "use_mup",
                                          "sample_prompt",
                                          "mock_data",
                                          "enable_cuda_graph"};
  if (!f.run.model.vlm) {
    return {};
  }
  const std::string given = given_of(f, kOptions);
  return given.empty() ? Result() : Violation{"given: " + given, "--model gpt"};
}

constexpr std::array kLanguagePartRules = std::to_array<Constraint>({
    {"E269", "plain_language_model", "--model vlm: a plain decoder",
     "model mtp-num-layers multi-latent-attention num-experts fp8-format "
     "use-cpu-initialization reset-attention-mask reset-position-ids use-mup "
     "sample-prompt mock-data enable-cuda-graph",
     "Images are put into dense layers of one kind, and samples come from files.",
     plain_language_model},
    {"E274", "packed_rows",
     "packing_buffer_size >= 1 with micro_batch_size == 1 and packing_seq_length == seq_length",
     "packing-buffer-size packing-seq-length seq-length micro-batch-size",
     "A packed row is a microbatch, as in the reference.", packed_rows},
});

}  // namespace

std::span<const Constraint> language_part_constraints() {
  return kLanguagePartRules;
}

}  // namespace mpitron::config
