#pragma once
#include <optional>

#include "inference/client/http_client.h"
#include "utils/numbers/shape.h"

namespace mpitron::inference {

/// A question to a server of OpenAI's protocol; what is absent the server chooses.
struct Question {
  std::string text;
  bool chat = true;  // else the text is continued
  std::string system = {};
  std::string model = {};
  std::optional<Index> max_tokens = {};
  std::optional<double> temperature = {};
  std::optional<Index> seed = {};
  bool stream = true;
};

/// Makes the request; `api_key` is empty for none.
HttpRequest request_of(const Question& question, const std::string& api_key);

/// Makes a request as Megatron's clients do: PUT /api.
HttpRequest megatron_request_of(const std::string& prompt, Index tokens);

/// Reads an answer while its bytes come: a stream's texts go on at once, other bodies are kept
/// whole.
class ReplyReader {
 public:
  using Text = std::function<void(std::string_view)>;
  /// Takes `text`, which hears pieces of a stream's text, whole characters.
  explicit ReplyReader(Text text) : text_(std::move(text)) {}

  /// Takes bytes as they come. Error(environment) where a stream tells an error of its own.
  void take(std::string_view bytes);
  /// Returns the bytes that were no events.
  std::string body() const { return body_ + line_; }

 private:
  void take_line(std::string_view line);

  Text text_;
  std::string line_;
  std::string body_;
};

/// Returns the text of an answer that came whole, of any of these protocols; nothing where there is
/// none.
std::optional<std::string> text_of(const std::string& body);

/// Returns the message of a refusal, of any of these protocols; the body itself where that is none.
std::string message_of(const std::string& body);

/// Tells whether the server at an address has a template for conversations: by its tokenizer_info,
/// true for servers that have no such page.
bool has_chat(const HttpAddress& address, const std::string& api_key);

}  // namespace mpitron::inference
