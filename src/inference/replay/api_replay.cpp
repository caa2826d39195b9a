#include <future>

#include <nlohmann/json.hpp>

#include "inference/replay/replay_row.h"
#include "inference/routing/router.h"
#include "utils/error.h"

// Recorded requests to Megatron's server, asked of this program's router without a socket; status,
// texts and log-probabilities are compared.

namespace mpitron::inference {
namespace {

using nlohmann::json;

/// A client that waits for one whole answer.
class WaitingClient : public HttpAnswer {
 public:
  void send(HttpReply reply) override { reply_.set_value(std::move(reply)); }
  void begin_events() override {}
  void event(std::string_view /*data*/) override {}
  void end_events() override {}
  void on_leave(std::function<void()> /*call*/) override {}
  HttpReply wait() { return reply_.get_future().get(); }

 private:
  std::promise<HttpReply> reply_;
};

/// Tells requests that the reference takes or ignores and this program refuses or honours; they are
/// left out of the comparison.
bool differs_on_purpose(const json& request) {
  return request.is_object() && ((request.contains("top_k") && request.at("top_k").is_boolean()) ||
                                 request.value("add_BOS", json(false)) == true ||
                                 request.value("stop_on_eol", json(false)) == true);
}

/// Compares an answer of /api: texts and ids must be equal, log-probabilities are noted in the row.
bool same_reply(ReplayRow& row, const json& got, const json& recorded) {
  for (const char* field : {"text", "tokens", "segments"}) {
    if (got.value(field, json()) != recorded.value(field, json())) {
      return false;
    }
  }
  const json values = got.value("logprobs", json::array());
  const json expected = recorded.value("logprobs", json::array());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t j = 0; j < expected.at(i).size(); ++j) {
      row.compare(
          i < values.size() && j < values.at(i).size() ? values.at(i).at(j).get<double>() : NAN,
          expected.at(i).at(j).get<double>());
    }
  }
  return true;
}

bool same_beams(ReplayRow& row, const json& got, const json& recorded) {
  const json scores = got.value("scores", json::array());
  for (std::size_t i = 0; i < recorded.at("scores").size(); ++i) {
    row.compare(i < scores.size() ? scores.at(i).get<double>() : NAN,
                recorded.at("scores").at(i).get<double>());
  }
  return got.value("text", json()) == recorded.at("text") &&
         got.value("segments", json()) == recorded.at("segments");
}

/// Compares a completion by the texts of its answers, and a refusal by its text.
bool same_completion(const json& got, const json& recorded) {
  if (!recorded.is_object()) {
    return recorded.is_null() ||
           (got.contains("error") && got.at("error").value("message", "") == recorded);
  }
  const json& choices = recorded.at("choices");
  if (!got.contains("choices") || got.at("choices").size() != choices.size()) {
    return false;
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (got.at("choices").at(i).at("text") != choices.at(i).at("text")) {
      return false;
    }
  }
  return true;
}

/// Rows of one replay: answers, refusals, completions and beams are counted apart, because each is
/// compared in its own way.
struct ApiRows {
  ReplayRow answers{.of = "api.json", .what = "/api", .allowed = kLogProbTolerance},
      refusals{.of = "api.json", .what = "/api refusals"},
      completions{.of = "api.json", .what = "/completions"},
      beams{.of = "api.json", .what = "/api beams", .allowed = kLogProbTolerance};

  void add(const json& call, const HttpReply& reply) {
    const json& recorded = call.at("reply");
    const json body = json::parse(reply.body, nullptr, false);
    if (call.at("path") == "/completions") {
      completions.count(same_completion(body, recorded));
    } else if (recorded.is_string()) {  // the reference's status is 200 for most of them
      refusals.count(reply.status == 400 && body == recorded);
    } else if (!recorded.is_object() || call.at("status") != 200) {
      refusals.count(reply.status == call.at("status"));
    } else if (recorded.contains("scores")) {
      beams.count(body.is_object() && same_beams(beams, body, recorded));
    } else {
      answers.count(body.is_object() && same_reply(answers, body, recorded));
    }
  }
};

}  // namespace

std::vector<ReplayRow> replay_api(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                  const std::filesystem::path& file) {
  GenerationService service(engine, tokenizer, {});
  const ServedModel model{.name = "recorded",
                          .tokenizer = tokenizer,
                          .shape = engine.shape(),
                          .service = service,
                          .grammars = std::make_shared<GrammarStore>(tokenizer)};
  Router router(model, "");
  ApiRows rows;
  const json recorded = recorded_json(file);
  for (const json& call : recorded.at("calls")) {
    const json& request = call.at("request");
    if (differs_on_purpose(request)) {
      continue;
    }
    const auto client = std::make_shared<WaitingClient>();
    router.answer({.method = call.at("method").get<std::string>(),
                   .target = call.at("path").get<std::string>(),
                   .authorization = {},
                   .body = request.is_string() ? request.get<std::string>() : request.dump()},
                  client);
    rows.add(call, client->wait());
  }
  return {rows.answers, rows.refusals, rows.completions, rows.beams};
}

}  // namespace mpitron::inference
