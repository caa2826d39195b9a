#include <nlohmann/json.hpp>

#include "inference/replay/replay_row.h"
#include "inference/scheduling/beam_requests.h"
#include "utils/error.h"

// Recorded answers of the reference's models: greedy texts, batches, scores, beams and the plans of
// its continuous batching, computed again.

namespace mpitron::inference {

using nlohmann::json;

RecordedFlags::RecordedFlags(const std::filesystem::path& config) {
  const json file = recorded_json(config);
  try {
    flags = file.at("flags").get<std::vector<std::string>>();
    padded_vocabulary = file.at("dims").at("padded_vocab").get<Index>();
    length = file.at("dims").at("seq").get<Index>();
  } catch (const json::exception& error) {
    throw_data("{}: {}", config.string(), error.what());
  }
}

namespace {

GenerationRequest greedy_request(const json& recorded, Index tokens, TokenId eod) {
  return {.prompt = recorded.at("prompt_ids").get<TokenIds>(),
          .max_tokens = tokens,
          .sampling = {.top_k = 1},
          .stop_ids = {eod},
          .log_probs = 5,
          .prompt_log_probs = recorded.contains("prompt_log_probs") || tokens == 0};
}

void compare_values(ReplayRow& row, const std::vector<TokenLogProbs>& got, const json& recorded) {
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    row.compare(i < got.size() ? static_cast<double>(got[i].token.value) : NAN,
                recorded.at(i).get<double>());
  }
}

/// Compares the values of the likeliest tokens, which are listed by their texts.
void compare_top(ReplayRow& row, const std::vector<TokenLogProbs>& got, const json& recorded) {
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const json& list = recorded.at(i);
    for (std::size_t j = 0; j < list.size(); ++j) {
      const bool there = i < got.size() && j < got[i].top.size();
      row.compare(there ? static_cast<double>(got[i].top[j].value) : NAN,
                  list.at(j).at(1).get<double>());
    }
  }
}

/// Compares ids; recorded ones lack the end of the document that this program lists.
bool same_ids(const Answer& answer, const TokenIds& recorded, TokenId eod) {
  TokenIds ids = answer.tokens;
  if (!ids.empty() && ids.back() == eod) {
    ids.pop_back();
  }
  return ids == recorded;
}

std::vector<Answer> run_all(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                            const json& cases, Index tokens) {
  Generator generator(engine, tokenizer, {});
  std::vector<GenerationRequest> requests;
  for (const json& each : cases) {
    requests.push_back(greedy_request(each, tokens, tokenizer.eod()));
  }
  return generator.run(std::move(requests));
}

Index longest_answer(const json& cases) {
  std::size_t longest = 1;
  for (const json& each : cases) {
    longest = std::max(longest, each.at("generated_ids").size());
  }
  return static_cast<Index>(longest);
}

/// Answers every prompt alone, greedily: ids must be equal, values within the tolerance.
void greedy(Engine& engine, const tokenizers::Tokenizer& tokenizer, const json& cases,
            const std::string& model, std::vector<ReplayRow>& rows) {
  ReplayRow ids{.of = model, .what = "greedy"},
      values{.of = model, .what = "log-probs", .allowed = kLogProbTolerance},
      top{.of = model, .what = "top-n", .allowed = kLogProbTolerance};
  const Index longest = longest_answer(cases);
  for (const json& each : cases) {  // alone
    const Answer answer = run_all(engine, tokenizer, json::array({each}), longest).front();
    ids.count(same_ids(answer, each.at("generated_ids").get<TokenIds>(), tokenizer.eod()) &&
              answer.text == each.at("generated_text").get<std::string>());
    values.count(true);
    compare_values(values, answer.prompt_log_probs, each.at("prompt_log_probs"));
    compare_values(values, answer.log_probs, each.at("generated_log_probs"));
    top.count(true);
    compare_top(top, answer.prompt_log_probs, each.at("prompt_top_n"));
    compare_top(top, answer.log_probs, each.at("generated_top_n"));
  }
  rows.insert(rows.end(), {ids, values, top});
}

/// Answers all prompts in one batch, which must give the same recorded answers.
ReplayRow batch(Engine& engine, const tokenizers::Tokenizer& tokenizer, const json& cases,
                const std::string& model) {
  ReplayRow row{.of = model, .what = "batch", .allowed = kLogProbTolerance};
  const std::vector<Answer> answers = run_all(engine, tokenizer, cases, longest_answer(cases));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const json& each = cases.at(i);
    row.count(same_ids(answers[i], each.at("generated_ids").get<TokenIds>(), tokenizer.eod()));
    compare_values(row, answers[i].log_probs, each.at("generated_log_probs"));
    compare_top(row, answers[i].log_probs, each.at("generated_top_n"));
  }
  return row;
}

ReplayRow score(Engine& engine, const tokenizers::Tokenizer& tokenizer, const json& cases,
                const std::string& model) {
  ReplayRow row{.of = model, .what = "score", .allowed = kLogProbTolerance};
  const std::vector<Answer> answers = run_all(engine, tokenizer, cases, 0);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const json& each = cases.at(i);
    row.count(answers[i].prompt_log_probs.size() == each.at("log_probs").size());
    compare_values(row, answers[i].prompt_log_probs, each.at("log_probs"));
    compare_top(row, answers[i].prompt_log_probs, each.at("top_n"));
  }
  return row;
}

/// Tells whether ids begin with a hypothesis; recorded rows go on behind it with what means
/// nothing.
bool begins_with(const TokenIds& ids, const TokenIds& beginning) {
  return ids.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), ids.begin());
}

ReplayRow beams(Engine& engine, const tokenizers::Tokenizer& tokenizer, const json& cases,
                const std::string& model) {
  ReplayRow row{.of = model, .what = "beams", .allowed = kLogProbTolerance};
  Generator generator(engine, tokenizer, {});
  for (const json& each : cases) {
    const json& recorded = each.at("beams");
    const std::vector<Hypothesis> best =
        search_beams(generator, each.at("prompt_ids").get<TokenIds>(),
                     {.width = each.at("beam_width").get<Index>(),
                      .tokens = each.at("tokens_to_generate").get<Index>(),
                      .stop = each.at("stop_token").get<TokenId>(),
                      .length_penalty = each.at("length_penalty").get<double>()});
    bool same = best.size() == recorded.size();
    for (std::size_t i = 0; same && i < best.size(); ++i) {
      same = begins_with(recorded.at(i).at("ids").get<TokenIds>(), best[i].tokens);
      row.compare(best[i].score, recorded.at(i).at("score").get<double>());
    }
    row.count(same);
  }
  return row;
}

}  // namespace

std::vector<ReplayRow> replay_model(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                    const std::filesystem::path& folder) {
  const json file = recorded_json(folder / "generation.json");
  const std::string model = folder.filename().string();
  std::vector<ReplayRow> rows;
  greedy(engine, tokenizer, file.at("greedy"), model, rows);
  rows.push_back(batch(engine, tokenizer, file.at("batch"), model));
  rows.push_back(score(engine, tokenizer, file.at("score"), model));
  if (std::filesystem::exists(folder / "beam.json")) {
    const json cases = recorded_json(folder / "beam.json").at("cases");
    rows.push_back(beams(engine, tokenizer, cases, model));
  }
  return rows;
}

std::vector<ReplayRow> replay_dynamic(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                      const std::filesystem::path& file, const std::string& model) {
  const json recorded = recorded_json(file);
  if (!recorded.contains(model)) {
    return {};
  }
  const json& cases = recorded.at(model).at("requests");
  ReplayRow row{.of = model, .what = "dynamic"};
  const Index tokens = recorded.at(model).at("tokens_to_generate").get<Index>();
  const std::vector<Answer> answers = run_all(engine, tokenizer, cases, tokens);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto ids = cases.at(i).at("generated_ids").get<TokenIds>();
    if (!ids.empty() && ids.back() == tokenizer.eod()) {
      ids.pop_back();
    }
    row.count(same_ids(answers[i], ids, tokenizer.eod()));
  }
  return {row};
}

}  // namespace mpitron::inference
