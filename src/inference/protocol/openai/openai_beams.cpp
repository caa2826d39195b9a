#include "inference/protocol/openai/openai_beams.h"

#include <algorithm>

#include <fmt/format.h>

#include "inference/protocol/served_beams.h"
#include "inference/text/text_stream.h"

// Beams in the form of OpenAI's replies, by the names that vLLM gives their fields.

namespace mpitron::inference {
namespace {

/// Names a field that a search cannot honour; values that say nothing are let through.
const char* not_of_beams(const Fields& fields, const OpenAiRequest& request) {
  const SamplingRule& rule = request.generation.sampling;
  const std::pair<const char*, bool> asked[] = {
      {"temperature", fields.number("temperature", 0) != 0},
      {"top_p", rule.top_p < 1},
      {"top_k", rule.top_k > 0},
      {"min_p", rule.min_p > 0},
      {"repetition_penalty", rule.repetition_penalty != 1},
      {"presence_penalty", rule.presence_penalty != 0},
      {"frequency_penalty", rule.frequency_penalty != 0},
      {"logit_bias", !rule.bias.empty()},
      {"bad_words", !rule.banned.empty()},
      {"min_tokens", rule.min_tokens > 0},
      {"stop", fields.has("stop")},
      {"stop_token_ids", fields.has("stop_token_ids")},
      {"include_stop_str_in_output", request.generation.show_stop_id},
      {"stream", request.stream},
      {"logprobs", request.lists_log_probs()},
      {request.tools.forced() ? "tool_choice" : "a form of the answer",
       static_cast<bool>(request.generation.constraint)}};
  const auto* const found =
      std::ranges::find_if(asked, [](const auto& each) { return each.second; });
  return found == std::end(asked) ? nullptr : found->first;
}

/// A text that is shorter than it might be has come to the end of a document.
Answer answer_of(const ServedModel& model, const OpenAiRequest& request, const Hypothesis& best) {
  Answer answer;
  const TokenIds& prompt = request.prompts.front();
  answer.tokens.assign(best.tokens.begin() + static_cast<std::ptrdiff_t>(prompt.size()),
                       best.tokens.end());
  TextStream text(model.tokenizer, prompt, {});
  for (const TokenId id : answer.tokens) {
    text.push(id);
  }
  text.finish();
  answer.text = text.text();
  const bool whole = static_cast<Index>(answer.tokens.size()) < request.beams->tokens;
  answer.finish = whole ? FinishReason::stop : FinishReason::length;
  answer.stop_id = whole ? request.beams->stop : -1;
  return answer;
}

}  // namespace

std::optional<BeamRule> beam_rule(const ServedModel& model, const Fields& fields,
                                  const OpenAiRequest& request) {
  const auto check = [](bool holds, const char* field, const std::string& why) {
    if (!holds) {
      throw RequestError(400, fmt::format("{} {}", field, why), field);
    }
  };
  if (!fields.boolean("use_beam_search", false)) {
    check(!fields.has("length_penalty"), "length_penalty", "needs use_beam_search");
    return {};
  }
  if (const char* const field = not_of_beams(fields, request)) {
    check(false, field, "cannot be set with use_beam_search");
  }
  check(request.prompts.size() == 1, "use_beam_search", "needs one prompt");
  check(request.generation.max_tokens > 0, "max_tokens", "must be at least 1 with use_beam_search");
  // A step takes the best 2 x width tokens of each beam.
  const Index most = std::min<Index>(128, model.shape.vocabulary / 2);
  check(request.best_of <= most, fields.has("best_of") ? "best_of" : "n",
        fmt::format("is {}; this server searches with up to {} beams", request.best_of, most));
  return BeamRule{.width = request.best_of,
                  .tokens = request.generation.max_tokens,
                  .stop = fields.boolean("ignore_eos", false) ? -1 : model.tokenizer.eod(),
                  .length_penalty = fields.number("length_penalty", 1)};
}

void answer_with_beams(const ServedModel& model, std::shared_ptr<OpenAiReply> reply,
                       const std::shared_ptr<HttpAnswer>& client) {
  const OpenAiRequest& request = reply->request();
  GenerationRequest search = request.generation;
  search.prompt = request.prompts.front();
  client->on_leave(
      search_beams(model.service, std::move(search), *request.beams,
                   {.found =
                        [&model, reply, client](const std::vector<Hypothesis>& best) {
                          for (std::size_t i = 0; i < best.size(); ++i) {
                            reply->update(i, answer_of(model, reply->request(), best[i]));
                          }
                          client->send({200, reply->whole()});
                        },
                    .failed =
                        [client](int status, const std::string& text) {
                          client->send({status, openai_error(RequestError(status, text))});
                        }}));
}

}  // namespace mpitron::inference
