#pragma once
#include "inference/protocol/http_exchange.h"
#include "inference/protocol/openai/openai_reply.h"

namespace mpitron::inference {

/// Returns the search that `use_beam_search` asks for, of `best_of` beams; nothing without it.
/// RequestError(400) names a field that says how tokens are drawn or when an answer ends: a search
/// draws none, and only the end of a document ends its texts.
std::optional<BeamRule> beam_rule(const ServedModel& model, const Fields& fields,
                                  const OpenAiRequest& request);

/// Searches, and sends the best `n` texts as the choices of one reply. They have the scores of PUT
/// /api: lengths are those of answers, without prompts.
void answer_with_beams(const ServedModel& model, std::shared_ptr<OpenAiReply> reply,
                       const std::shared_ptr<HttpAnswer>& client);

}  // namespace mpitron::inference
