#include <gtest/gtest.h>

#include "inference/cached_engine.h"
#include "support/host_runtime.h"
#include "tests/inference/random_decoder.h"
#include "tests/inference/tiny_vlm.h"
#include "tokenizers/core/null_tokenizer.h"

namespace mpitron::inference {
namespace gpu_images_test {

std::vector<Answer> answers_on(const char* name) {
  const auto device = device::make_device(name);
  const config::ModelConfig config = test::tiny_vlm("rope");
  const auto world = comm::make_single_world();
  models::LlavaModel model(
      config, *device,
      models::Model::Share{.groups = comm::groups_of_one(*world), .part = nn::whole_model(config)});
  model.initialize();
  const tokenizers::NullTokenizer tokenizer(60);
  CachedEngine engine(*device, model,
                      {.block_size = 8, .blocks = 40, .slots = 2, .max_step_tokens = 24},
                      tokenizer.vocab_size());
  Generator generator(engine, tokenizer, {});
  std::vector<GenerationRequest> requests = {
      test::request_about({test::image_of(7), test::image_of(3)}),
      test::request_about({test::image_of(3)}), test::request_about({})};
  for (GenerationRequest& request : requests) {
    request.log_probs = 0;
  }
  return generator.run(std::move(requests));
}

TEST(GpuImages, AnswersAreTheHosts) {
  test::expect_same(answers_on("cuda"), answers_on("host"), 1e-4);
}

}  // namespace gpu_images_test
}  // namespace mpitron::inference
