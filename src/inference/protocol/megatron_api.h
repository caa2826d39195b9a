#pragma once
#include "inference/protocol/http_exchange.h"
#include "inference/protocol/served_model.h"

namespace mpitron::inference {

/// A request to Megatron's PUT /api (megatron/core/inference/text_generation_server).
struct MegatronRequest {
  std::vector<std::string> prompts;
  Index tokens = 64;
  bool log_probs = false;
  bool add_bos = false;
  bool stop_on_double_eol = false;
  bool stop_on_eol = false;
  bool prevent_newline_after_colon = false;
  SamplingRule sampling;
  bool seeded = false;
  Index beam_width = 0;                    // 0: no beam search
  std::optional<TokenId> stop_token = {};  // of beams; the end of documents unless given
  double length_penalty = 1;
};

/// The checks of the reference's server in its order, with its texts; RequestError(400). Where the
/// reference answers most of them with status 200, its own client cannot read them.
MegatronRequest parse_megatron_request(const Fields& fields);

/// What the reference's /completions refuses although OpenAI's form allows it, with its texts;
/// RequestError(400).
void check_megatron_completion(const Fields& fields);

/// PUT /api: {"text", "tokens", "segments", "logprobs"}, of beams {"text", "segments", "scores"},
/// best first; errors are JSON strings.
void answer_megatron(const ServedModel& model, const HttpRequest& request,
                     const std::shared_ptr<HttpAnswer>& client);

}  // namespace mpitron::inference
