#include "inference/scheduling/beam_requests.h"

// One step of beam search as requests of one token, each with the likeliest tokens in its place.

namespace mpitron::inference {

std::vector<GenerationRequest> beam_requests(const BeamSearch& search,
                                             const GenerationRequest& like) {
  std::vector<GenerationRequest> requests;
  for (const TokenIds& tokens : search.open()) {
    requests.push_back({.prompt = tokens,
                        .images = like.images,
                        .max_tokens = 1,
                        .sampling = {.temperature = 0},
                        .log_probs = search.wanted(),
                        .salt = like.salt,
                        .adapter = like.adapter});
  }
  return requests;
}

void take_answers(BeamSearch& search, const std::vector<Answer>& answers) {
  std::vector<std::vector<TokenLogProb>> likeliest;
  for (const Answer& answer : answers) {
    likeliest.push_back(answer.log_probs.front().top);
  }
  search.take(likeliest);
}

std::vector<Hypothesis> search_beams(Generator& generator, TokenIds prompt, const BeamRule& rule) {
  BeamSearch search(std::move(prompt), rule);
  while (!search.open().empty()) {
    take_answers(search, generator.run(beam_requests(search)));
  }
  return search.best();
}

}  // namespace mpitron::inference
