#pragma once
#include <atomic>

#include "inference/protocol/http_exchange.h"
#include "inference/protocol/served_model.h"

namespace mpitron::inference {

struct Route;

/// Sends each request to its handler: Megatron's and OpenAI's protocols, and what tells about the
/// server. Any thread may call.
class Router {
 public:
  /// `api_key`: empty for none.
  Router(const ServedModel& model, std::string api_key)
      : model_(model), api_key_(std::move(api_key)) {}

  /// Answers a request, now or later from the service's thread, also where it is refused.
  void answer(const HttpRequest& request, const std::shared_ptr<HttpAnswer>& client);

  /// From now on requests for answers get 503; those under way go on.
  void stop_accepting() { stopping_ = true; }

 private:
  using Client = std::shared_ptr<HttpAnswer>;
  void route(const HttpRequest& request, const Client& client);
  void change(const HttpRequest& request, const Route& route, const Client& client);
  void complete(const HttpRequest& request, const Route& route, const Client& client);

  const ServedModel& model_;
  std::string api_key_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> next_ = 1;
};

}  // namespace mpitron::inference
