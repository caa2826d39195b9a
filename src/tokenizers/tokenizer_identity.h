#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpitron::tokenizers {

/// How the reference's data sets name a tokenizer in the description they hash for index caches.
struct TokenizerIdentity {
  std::string class_name = "_NullTokenizer";
  std::vector<std::optional<std::string>> paths{std::nullopt};  // as given; nothing is null
  std::vector<std::pair<std::string, std::string>>
      options;  // behind "tokenizer_path", in this order
};

}  // namespace mpitron::tokenizers
