#include "plan/model/job.h"

#include <array>

#include "config/global_batch_size.h"
#include "utils/error.h"

// A step to predict: its sizes, and the runs of which none is predicted.

namespace mpitron::plan {

double Job::expert_tensor() const {
  const Index own = run.parallel.expert_tensor_parallel_size;
  return own > 0 ? real(own) : tensor();
}

double Job::microbatches() const {
  return real(
      std::max<Index>(1, config::num_microbatches(run.training, run.parallel.data_parallel_size)));
}

Precision Job::precision() const {
  if (practice.precision || !run.model.fp8) {
    return practice.precision.value_or(Precision::bf16);
  }
  return run.model.fp8->recipe == config::Fp8Recipe::mxfp8 ? Precision::mxfp8 : Precision::fp8;
}

config::RunConfig with_vocabulary(config::RunConfig run) {
  if (run.model.padded_vocab_size == 0 && run.data.vocab_size) {
    run.model.padded_vocab_size =
        config::pad_vocab_size(*run.data.vocab_size, run.model.make_vocab_size_divisible_by,
                               run.parallel.tensor_model_parallel_size);
  }
  return run;
}

/// Error(usage) for models of which the formulas know nothing.
Job make_job(config::RunConfig run, Practice practice) {
  const config::ModelFamily& family = run.model.family();
  if (family.encoder_decoder || !family.has_words() || run.model.text_head) {
    throw_usage(
        "plan: the time of models of encoder and decoder, of images, or with a head for a task is "
        "not predicted; --dry-run all and --dry-run RANK play the program of most of them");
  }
  run = with_vocabulary(std::move(run));
  auto work = std::make_shared<const ModelWork>(run.model);
  return {.run = std::move(run), .practice = practice, .work = std::move(work)};
}

pipeline::StageLayout stage_layout(const Job& job) {
  return pipeline::make_stage_layout(job.run.parallel, job.run.model.all_layers(),
                                     job.run.model.mtp_num_layers.value_or(0));
}

const char* to_string(Precision precision) {
  constexpr std::array<const char*, 4> kNames = {"bf16", "fp8", "mxfp8", "nvfp4"};
  return kNames[static_cast<std::size_t>(precision)];
}

}  // namespace mpitron::plan
