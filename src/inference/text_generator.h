#pragma once
#include <string>

#include "models/base/model.h"
#include "tokenizers/core/tokenizer.h"

namespace mpitron::inference {

struct SamplingSettings {
  Index tokens = 128;
  double temperature = 0.8;  // 0: the likeliest token
  std::uint64_t seed = 1234;
};

/// Continues texts token by token with a model in memory. Every step runs the whole window again:
/// there is no cache of keys and values yet.
class TextGenerator {
 public:
  TextGenerator(device::Device& device, const models::Model& model,
                const tokenizers::Tokenizer& tokenizer)
      : TextGenerator(device, model, tokenizer, length_step(device, model)) {}
  /// Windows are lengthened to a multiple of `length_step` by tokens that nobody looks at.
  TextGenerator(device::Device& device, const models::Model& model,
                const tokenizers::Tokenizer& tokenizer, std::size_t length_step)
      : device_(device), model_(model), tokenizer_(tokenizer), length_step_(length_step) {}

  /// The prompt and its continuation, up to the first end of document. Deterministic for a seed.
  std::string generate(const std::string& prompt, const SamplingSettings& settings) const;

 private:
  /// On a GPU cuBLASLt and cuDNN plan for each length: there shall be few. Experts would see the
  /// tokens that nobody looks at.
  static std::size_t length_step(const device::Device& device, const models::Model& model) {
    return device.tensors_on_host() || model.config().moe ? 1 : 64;
  }
  /// Logits of the token that follows, fp32, padded rows of the vocabulary cut off.
  std::vector<float> next_logits(const tokenizers::TokenIds& ids) const;

  device::Device& device_;
  const models::Model& model_;
  const tokenizers::Tokenizer& tokenizer_;
  std::size_t length_step_;
};

/// Draws from softmax(logits / temperature) with `uniform` in [0, 1).
Index sample_token(const std::vector<float>& logits, double temperature, double uniform);

}  // namespace mpitron::inference
