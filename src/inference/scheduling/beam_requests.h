#pragma once
#include "inference/sampling/beam_search.h"
#include "inference/scheduling/generator.h"

namespace mpitron::inference {

/// Makes the requests of a step of the search: one token behind each open continuation, whose full
/// blocks the prefix cache has. `like`: what they have beside a prompt (adapter, salt, images).
std::vector<GenerationRequest> beam_requests(const BeamSearch& search,
                                             const GenerationRequest& like = {});

/// Takes a step with the answers to these requests, in their order.
void take_answers(BeamSearch& search, const std::vector<Answer>& answers);

/// The whole search, on a generator that nobody else uses meanwhile.
std::vector<Hypothesis> search_beams(Generator& generator, TokenIds prompt, const BeamRule& rule);

}  // namespace mpitron::inference
