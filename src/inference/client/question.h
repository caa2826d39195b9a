#pragma once
#include <optional>

#include "inference/client/http_client.h"
#include "utils/numbers/shape.h"

namespace mpitron::inference {

/// What is asked of a server of OpenAI's protocol; what is absent the server chooses.
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

/// `api_key`: empty for none.
HttpRequest request_of(const Question& question, const std::string& api_key);

/// The same as Megatron's clients ask it: PUT /api.
HttpRequest megatron_request_of(const std::string& prompt, Index tokens);

/// An answer while its bytes come: a stream's texts go on at once, other bodies are kept whole.
class ReplyReader {
 public:
  using Text = std::function<void(std::string_view)>;
  /// `text`: hears pieces of a stream's text, whole characters.
  explicit ReplyReader(Text text) : text_(std::move(text)) {}

  /// Error(environment): what a stream says of its own end.
  void take(std::string_view bytes);
  /// The bytes that were no events.
  std::string body() const { return body_ + line_; }

 private:
  void take_line(std::string_view line);

  Text text_;
  std::string line_;
  std::string body_;
};

/// The text of an answer that came whole, of any of these protocols; nothing where there is none.
std::optional<std::string> text_of(const std::string& body);

/// What a refusal says, of any of these protocols; the body itself where that is none.
std::string message_of(const std::string& body);

/// Whether the server at an address has a template for conversations: what its tokenizer_info says,
/// true for servers that have no such page.
bool has_chat(const HttpAddress& address, const std::string& api_key);

}  // namespace mpitron::inference
