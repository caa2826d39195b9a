#pragma once
#include "inference/routing/router.h"
#include "inference/server/http_server.h"

namespace mpitron::inference {

/// Settings of a served model, between flags and server.
struct ServingSettings {
  HttpServerSettings http;
  SchedulerSettings scheduler;
  std::string model_name;
  std::string api_key;
  std::shared_ptr<const tokenizers::ChatTemplate> chat;
  std::shared_ptr<const PromptImages> images = {};  // null where the model sees none
  std::vector<ServedAdapter> adapters = {};         // beside it, by the names of requests
  ServedAdapters::Reader read_adapter = {};         // of more while it runs; absent: none
  std::string version;
  Index max_waiting = 1024;
  std::chrono::seconds drain{30};
  StepsOn steps_on = StepsOn::own_thread;
};

/// Serves a model over HTTP, from construction on until drain() or destruction; with
/// StepsOn::caller answers come while run_steps() runs.
class Serving {
 public:
  Serving(Engine& engine, const tokenizers::Tokenizer& tokenizer, ServingSettings settings);
  ~Serving();

  /// As GenerationService's.
  void run_steps() { service_->run_steps(); }
  void stop() { service_->stop(); }

  std::uint16_t port() const { return server_->port(); }
  std::size_t connections() const { return server_->connections(); }
  ServiceStats stats() const { return service_->stats(); }
  /// Refuses new requests and waits until the open ones are answered, at most as long as the
  /// settings say; whether all were.
  bool drain();
  /// Answers all open requests with 503 and this message, and refuses new ones, from any thread;
  /// returns after a moment, in which the replies leave.
  void give_up(const std::string& message);

 private:
  std::chrono::seconds drain_;
  std::unique_ptr<GenerationService> service_;
  ServedModel model_;
  Router router_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace mpitron::inference
