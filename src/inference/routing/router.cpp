#include "inference/routing/router.h"

#include <fmt/format.h>

#include "inference/protocol/megatron_api.h"
#include "inference/protocol/openai/openai_beams.h"
#include "inference/routing/routes.h"
#include "utils/error.h"
#include "utils/log.h"

// Finds the route of a request, checks its key, and lets it in or turns it away: 404, 405, 401,
// 429, 503. Errors of parsing become replies in the form of the route's protocol.

namespace mpitron::inference {
namespace {

/// Compares secrets in a time that depends on their lengths alone, so that nobody can guess a key
/// letter by letter.
bool same_secret(std::string_view given, std::string_view wanted) {
  unsigned different = given.size() != wanted.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    different |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  }
  return different == 0;
}

/// Headers that tell clients how to go on after a refusal.
std::vector<std::pair<std::string, std::string>> headers_of(int status, const std::string& target) {
  switch (status) {
    case 401:
      return {{"WWW-Authenticate", "Bearer"}};
    case 405:
      return {{"Allow", find_route(target)->method}};
    case 429:
      return {{"Retry-After", "1"}};
    case 503:
      return {{"Retry-After", "5"}};
    default:
      return {};
  }
}

/// Runs `work` and turns what it refuses into a reply in OpenAI's form.
template <class Work>
void with_refusals(const HttpRequest& request, HttpAnswer& client, const Work& work) {
  try {
    work();
  } catch (const RequestError& error) {
    HttpReply reply{error.status(), openai_error(error)};
    reply.headers = headers_of(error.status(), request.target);
    client.send(std::move(reply));
  } catch (const Error& error) {  // of the tokenizer
    client.send({400, openai_error(RequestError(400, error.what()))});
  }
}

}  // namespace

void Router::answer(const HttpRequest& request, const Client& client) {
  with_refusals(request, *client, [&] { route(request, client); });
}

void Router::change(const HttpRequest& request, const Route& route, const Client& client) {
  if (!model_.adapters->change()) {
    throw RequestError(403,
                       "adapters do not change while this server runs; one on one rank with "
                       "--allow-adapter-loading loads more");
  }
  model_.service.run([this, request, tell = route.tell, client] {
    try {
      with_refusals(request, *client, [&] { client->send(tell(model_, request)); });
    } catch (const std::exception& error) {  // this thread answers all others, too
      log::error("{} {}: {}", request.method, request.target, error.what());
      client->send({500, openai_error(RequestError(500, "the server failed"))});
    }
  });
}

void Router::route(const HttpRequest& request, const Client& client) {
  const Route* const route = find_route(request.target);
  if (route == nullptr) {
    throw RequestError(404, fmt::format("there is no {}", request.target));
  }
  const std::string_view method = route->method;
  if (request.method != method && !(request.method == "HEAD" && method == "GET")) {
    throw RequestError(405, fmt::format("{} takes {}", request.target, method));
  }
  if (!api_key_.empty() && !route->open &&
      !same_secret(request.authorization, "Bearer " + api_key_)) {
    throw RequestError(401, "the API key is missing or wrong");
  }
  // The order of checks is that of what a stranger may learn: targets and methods are public,
  // everything else comes behind the key; a full queue is found before the body is parsed.
  const bool generates = route->protocol != Protocol::none;
  if (stopping_ && (generates || route->open)) {
    throw RequestError(503, "the server is stopping");
  }
  if (generates && model_.service.open_groups() >= model_.max_waiting) {
    throw RequestError(429, fmt::format("{} requests are open already", model_.max_waiting));
  }
  if (route->protocol == Protocol::megatron) {
    answer_megatron(model_, request, client);
  } else if (generates) {
    complete(request, *route, client);
  } else if (route->changes) {
    change(request, *route, client);
  } else {
    client->send(route->tell(model_, request));
  }
}

/// Parses a completion or a chat, submits its answers as one group and connects them to the client:
/// events of a stream as they come, or one reply behind the last.
void Router::complete(const HttpRequest& request, const Route& route, const Client& client) {
  const bool chat = route.protocol == Protocol::chat;
  const Fields fields = Fields::parse(request.body, route.fields());
  if (request.target == "/completions") {
    check_megatron_completion(fields);
  }
  OpenAiRequest parsed = chat ? parse_chat(model_, fields) : parse_completion(model_, fields);
  const std::string id = fmt::format("{}-{:016x}{:08x}", chat ? "chatcmpl" : "cmpl",
                                     parsed.generation.sampling.seed, next_++);
  const bool stream = parsed.stream;
  const bool beams = parsed.beams.has_value();
  AnswerGroup group{.requests = parsed.answers(), .answered = {}, .failed = {}};
  auto reply = std::make_shared<OpenAiReply>(model_, std::move(parsed), id, unix_seconds());
  if (beams) {
    return answer_with_beams(model_, reply, client);
  }
  const auto send_events = [client](const std::vector<std::string>& events) {
    for (const std::string& event : events) {
      client->event(event);
    }
  };
  if (stream) {
    // The stream begins before the group is submitted, since from then on the service's thread may
    // send.
    client->begin_events();
    send_events(reply->first_events());
  }
  group.answered = [=](std::size_t index, const Answer& answer) {
    send_events(reply->update(index, answer));
    if (reply->complete() && stream) {
      send_events(reply->last_events());
      client->event("[DONE]");
      client->end_events();
    } else if (reply->complete()) {
      client->send({200, reply->whole()});
    }
  };
  group.failed = [=](int status, const std::string& text) {
    const std::string error = openai_error(RequestError(status, text));
    if (stream) {
      client->event(error);
      client->end_events();
    } else {
      client->send({status, error});
    }
  };
  const std::uint64_t number = model_.service.submit(std::move(group));
  client->on_leave([this, number] { model_.service.cancel(number); });
}

}  // namespace mpitron::inference
