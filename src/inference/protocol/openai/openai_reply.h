#pragma once
#include "inference/protocol/openai/openai_request.h"

namespace mpitron::inference {

/// Answers to a request in OpenAI's form, whole or as events of a stream.
class OpenAiReply {
 public:
  OpenAiReply(const ServedModel& model, OpenAiRequest request, std::string id,
              std::int64_t created);

  const OpenAiRequest& request() const { return request_; }

  /// Takes an answer's news; the events that a stream sends for it.
  std::vector<std::string> update(std::size_t index, const Answer& answer);
  /// Whether every answer is finished.
  bool complete() const { return unfinished_ == 0; }
  /// The reply of a request without stream, when it is complete.
  std::string whole() const;
  /// First events of a stream, and those before its end mark.
  std::vector<std::string> first_events() const;
  std::vector<std::string> last_events() const;

 private:
  struct Sent {
    std::size_t bytes = 0;
    std::size_t tokens = 0;
  };
  /// Returns an event around one choice.
  std::string event_of(const nlohmann::ordered_json& choice) const;
  /// Places of the `n` answers of a prompt that are sent, the one with the highest mean
  /// log-probability first; in their own order where all are sent.
  std::vector<std::size_t> best(std::size_t prompt) const;
  /// Choices of an event: what is new of an answer.
  nlohmann::ordered_json chat_part(std::size_t index, const Answer& answer, const std::string& text,
                                   const std::vector<ToolCall>& calls) const;
  nlohmann::ordered_json completion_part(std::size_t index, const Answer& answer,
                                         const std::string& text) const;
  /// Adds why an answer ended, and in `stop_reason` (as vLLM does) what ended it.
  void end_part(nlohmann::ordered_json& choice, const Answer& answer, bool calls) const;

  const ServedModel& model_;
  OpenAiRequest request_;
  std::string id_;
  std::int64_t created_;
  std::string before_choice_, behind_choice_;  // of events, which differ in their choices alone
  std::vector<Answer> answers_;
  std::vector<Sent> sent_;
  std::size_t unfinished_;
};

/// {"error": {"message", "type", "param", "code"}} of a refusal.
std::string openai_error(const RequestError& error);

}  // namespace mpitron::inference
