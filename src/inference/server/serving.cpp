// Puts the pieces of a served model together: service (the engine's thread), router and server, in
// the order in which they need each other.
#include "inference/server/serving.h"

namespace mpitron::inference {
namespace {

std::shared_ptr<ServedAdapters> adapters_of(const ServingSettings& settings) {
  std::vector<ServedAdapter> adapters = settings.adapters;
  for (ServedAdapter& adapter : adapters) {
    adapter.created = unix_seconds();
  }
  return std::make_shared<ServedAdapters>(std::move(adapters), settings.read_adapter);
}

}  // namespace

Serving::Serving(Engine& engine, const tokenizers::Tokenizer& tokenizer, ServingSettings settings)
    : drain_(settings.drain),
      service_(std::make_unique<GenerationService>(engine, tokenizer, settings.scheduler,
                                                   settings.steps_on)),
      model_{.name = settings.model_name,
             .tokenizer = tokenizer,
             .shape = engine.shape(),
             .service = *service_,
             .grammars = std::make_shared<GrammarStore>(tokenizer),
             .chat = settings.chat,
             .images = settings.images,
             .adapters = adapters_of(settings),
             .created = unix_seconds(),
             .version = settings.version,
             .max_waiting = settings.max_waiting},
      router_(model_, settings.api_key) {
  const auto handler = [this](const HttpRequest& request,
                              const std::shared_ptr<HttpAnswer>& client) {
    router_.answer(request, client);
  };
  server_ = std::make_unique<HttpServer>(settings.http, handler);
}

/// Ends the server's thread first and frees its memory last: connections refer to the server, the
/// service's open answers to connections.
Serving::~Serving() {
  server_->stop();
  service_.reset();
  server_.reset();
}

bool Serving::drain() {
  router_.stop_accepting();
  const auto end = std::chrono::steady_clock::now() + drain_;
  while (service_->open_groups() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the last replies leave
  return service_->open_groups() == 0;
}

void Serving::give_up(const std::string& message) {
  router_.stop_accepting();
  service_->give_up(message);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the replies leave
}

}  // namespace mpitron::inference
