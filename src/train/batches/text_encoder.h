#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "tokenizers/core/tokenizer.h"

namespace mpitron::train {

/// Caches of a tokenizer, one for each of the calls that run at once.
class TokenizerCaches {
 public:
  using Handle = std::unique_ptr<tokenizers::Tokenizer::Cache>;
  explicit TokenizerCaches(const tokenizers::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  Handle take();
  void give_back(Handle cache);

 private:
  const tokenizers::Tokenizer& tokenizer_;
  std::mutex turn_;
  std::vector<Handle> idle_;
};

/// Ids of a part of a text. May be called from several threads.
using EncodeText = std::function<std::vector<std::int64_t>(std::string_view)>;
EncodeText make_text_encoder(const tokenizers::Tokenizer& tokenizer);

}  // namespace mpitron::train
