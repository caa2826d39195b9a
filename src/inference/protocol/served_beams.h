#pragma once
#include "inference/protocol/generation_service.h"
#include "inference/sampling/beam_search.h"

namespace mpitron::inference {

/// Hears of a search on the service's thread: one of the calls, once.
struct BeamCalls {
  std::function<void(const std::vector<Hypothesis>&)> found;  // best first
  std::function<void(int, const std::string&)> failed;        // as of an AnswerGroup
};

/// Searches beams beside the answers of others: each step is a group of one-token answers of the
/// service, with the request's prompt, adapter, salt and images. Returns how to give the search up,
/// on any thread.
std::function<void()> search_beams(GenerationService& service, GenerationRequest request,
                                   const BeamRule& rule, BeamCalls calls);

}  // namespace mpitron::inference
