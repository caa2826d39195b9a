#include "plan/calibration/calibration_programs.h"

#include <array>
#include <string>

#include "config/parse/parse.h"

// The programs whose kernels `mpitron doctor --calibrate` times: sizes between which those of other
// models are interpolated.

namespace mpitron::plan {
namespace {

/// The sizes of a program's model.
struct ProgramShape {
  Index hidden, heads, sequence, batch, vocabulary;
};

/// A GPT and a Llama of one width. What only tokens and width decide is measured by both, so they
/// differ in batch and vocabulary: the product with the vocabulary is most of a small model's work.
struct ProgramPair {
  ProgramShape gpt, llama;
};
constexpr Index kHeadsOfAGroup = 4;  // of a Llama
constexpr std::array<ProgramPair, 4> kPairs = {
    {{.gpt = {256, 4, 256, 4, 8192}, .llama = {256, 4, 256, 2, 8192}},
     {.gpt = {512, 8, 512, 1, 16384}, .llama = {512, 8, 512, 2, 16384}},
     {.gpt = {1024, 16, 512, 1, 8192}, .llama = {1024, 16, 512, 1, 16384}},
     {.gpt = {768, 12, 512, 1, 50304}, .llama = {768, 12, 1024, 1, 8192}}}};

/// The one whose halves are as large as those of small models that anybody trains on a host.
constexpr ProgramPair kCutPair = {.gpt = {768, 12, 256, 1, 8192}, .llama = {512, 8, 512, 1, 8192}};

/// First values are uniform, which takes less time to draw than normal ones; both have their tables
/// tied, which halves what is drawn and leaves out no kernel.
std::vector<std::string> flags_of(const ProgramShape& shape, bool narrow, bool llama) {
  const auto text = [](Index value) { return std::to_string(value); };
  std::vector<std::string> flags = {"--num-layers",
                                    "2",
                                    "--hidden-size",
                                    text(shape.hidden),
                                    "--num-attention-heads",
                                    text(shape.heads),
                                    "--seq-length",
                                    text(shape.sequence),
                                    "--max-position-embeddings",
                                    text(shape.sequence),
                                    "--micro-batch-size",
                                    text(shape.batch),
                                    "--global-batch-size",
                                    text(2 * shape.batch),
                                    "--train-iters",
                                    "10",
                                    "--lr",
                                    "1e-5",
                                    "--tokenizer-type",
                                    "NullTokenizer",
                                    "--vocab-size",
                                    text(shape.vocabulary - 1),
                                    "--mock-data",
                                    "--init-method-xavier-uniform"};
  if (narrow) {
    flags.push_back("--bf16");
  }
  if (llama) {
    flags.insert(flags.end(), {"--swiglu", "--normalization", "RMSNorm", "--disable-bias-linear",
                               "--position-embedding-type", "rope", "--group-query-attention",
                               "--num-query-groups", text(shape.heads / kHeadsOfAGroup),
                               "--hidden-dropout", "0", "--attention-dropout", "0"});
  }
  return flags;
}

}  // namespace

std::vector<config::RunConfig> calibration_programs() {
  std::vector<config::RunConfig> programs;
  for (const ProgramPair& pair : kPairs) {
    for (const bool narrow : {false, true}) {
      for (const bool llama : {false, true}) {
        const ProgramShape& shape = llama ? pair.llama : pair.gpt;
        programs.push_back(config::parse_valid_run(flags_of(shape, narrow, llama)).run);
        programs.back().model.padded_vocab_size = shape.vocabulary;
      }
    }
  }
  return programs;
}

std::vector<config::RunConfig> tensor_programs(Index ranks) {
  std::vector<config::RunConfig> programs;
  for (const bool llama : {false, true}) {
    const ProgramShape& shape = llama ? kCutPair.llama : kCutPair.gpt;
    const Index groups = llama ? shape.heads / kHeadsOfAGroup : shape.heads;
    if (groups % ranks != 0 || shape.vocabulary % ranks != 0) {
      continue;
    }
    std::vector<std::string> flags = flags_of(shape, llama, llama);
    const std::string size = std::to_string(ranks);
    flags.insert(flags.end(), {"--tensor-model-parallel-size", size, "--world-size", size});
    if (llama) {
      flags.push_back("--sequence-parallel");
    }
    programs.push_back(config::parse_valid_run(flags).run);
    programs.back().model.padded_vocab_size = shape.vocabulary;
  }
  return programs;
}

}  // namespace mpitron::plan
