#pragma once
#include "inference/protocol/openai/tool_choice.h"
#include "inference/sampling/beam_search.h"

namespace mpitron::inference {

/// A request to /v1/completions or /v1/chat/completions.
struct OpenAiRequest {
  bool chat = false;
  std::string model;  // the name of who answers
  std::vector<TokenIds> prompts;
  std::vector<std::string> prompt_texts;
  GenerationRequest generation;  // what all answers share; the prompt is empty
  std::optional<Index> max_tokens;
  Index n = 1;
  Index best_of = 1;
  bool echo = false;
  bool stream = false;
  bool include_usage = false;
  bool names_ids = false;              // log-probabilities name tokens by their ids
  ToolChoice tools;                    // of a chat
  std::optional<BeamRule> beams = {};  // of use_beam_search

  bool lists_log_probs() const { return generation.log_probs >= 0; }
  /// Requests of all answers: best_of for each prompt, each led by the prompt's first.
  std::vector<GenerationRequest> answers() const;
};

/// Read a request's fields and encode its prompts. Throw RequestError(400) naming the field; the
/// code of a prompt that leaves no room is context_length_exceeded.
OpenAiRequest parse_completion(const ServedModel& model, const Fields& fields);
OpenAiRequest parse_chat(const ServedModel& model, const Fields& fields);

}  // namespace mpitron::inference
