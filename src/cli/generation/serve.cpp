#include <csignal>
#include <thread>

#include "build_info.h"
#include "cli/commands.h"
#include "cli/generation/loaded_model.h"
#include "cli/run/launch.h"
#include "device/device.h"
#include "inference/server/serving.h"
#include "utils/log.h"

// `mpitron serve`: an HTTP server over one loaded model. Requests are taken on the server's
// threads; tokens are computed on the main thread, since the host's kernels share their work out to
// others on that one alone. This file checks numbers and starts both. SIGTERM and Ctrl-C let open
// requests finish for --drain-seconds.

namespace mpitron::cli {
namespace {

struct ServeFlags {
  ModelOptions model;
  std::string host = "127.0.0.1", api_key, image_root, chat_template;
  Index port = 5000, connections = 1024, body_mb = 32, bodies_mb = 0, drain_seconds = 30,
        queue = 1024;
  Index images = 16, megapixels = 50, prompt_tokens = 32;
  bool adapter_loading = false;
};

void declare(Flags& flags, ServeFlags& o) {
  o.model.declare(flags);
  o.model.declare_adapters(flags, "for requests that name it; any number of them");
  flags.flag("--allow-adapter-loading", o.adapter_loading,
             "POST /v1/load_lora_adapter reads folders of this machine that requests name");
  flags.option("--host", o.host, "address to listen on; 0.0.0.0 for all");
  flags.option("--port", o.port, "port to listen on; 0: one that is free");
  flags.option("--served-model-name", o.model.name, "name in requests; the folder's unless given");
  flags.option("--api-key", o.api_key, "requests need `Authorization: Bearer KEY`");
  flags.option("--chat-template", o.chat_template, "Jinja file instead of the model's template");
  flags.option("--max-connections", o.connections, "connections at once");
  flags.option("--max-waiting", o.queue, "requests open at once; more get status 429");
  flags.option("--max-body-mb", o.body_mb, "largest request");
  flags.option("--max-bodies-mb", o.bodies_mb,
               "all that arrive at once, more get status 503; 0: four of the largest");
  flags.option("--allowed-local-media-path", o.image_root,
               "folder whose images requests may name; else they bring them along");
  flags.option("--max-images", o.images, "most images of a prompt");
  flags.option("--max-image-megapixels", o.megapixels, "largest image, in millions of pixels");
  flags.option("--prompt-tokens-beside-answers", o.prompt_tokens,
               "most tokens of prompts in a step that also continues answers: less, and answers "
               "go on more evenly; more, and they begin sooner; a quarter of it for each request "
               "that reads its prompt where these are more than four; 0: all that a step takes");
  flags.option("--drain-seconds", o.drain_seconds, "time for open requests after SIGTERM");
}

void check_range(const char* name, Index value, std::pair<Index, Index> allowed) {
  if (value < allowed.first || value > allowed.second) {
    throw_usage("{} {}: allowed are {} to {}", name, value, allowed.first, allowed.second);
  }
}

/// Returns how requests show images, null where the model sees none. The limits are checked in
/// either case, so that a wrong one is told with every model.
std::shared_ptr<const inference::PromptImages> images_of(const ServeFlags& o,
                                                         const LoadedModel& model) {
  check_range("--max-images", o.images, {0, 1024});
  check_range("--max-image-megapixels", o.megapixels, {1, 178});
  if (!model.config().vlm) {
    return nullptr;
  }
  const inference::ImagePolicy policy{
      .root = o.image_root, .most_images = o.images, .most_pixels = o.megapixels * 1'000'000};
  return std::make_shared<inference::PromptImages>(*model.config().vlm, policy);
}

/// Returns how adapters are loaded while the server runs; empty where they are not.
inference::ServedAdapters::Reader reader_of(const ServeFlags& o, LoadedModel& model) {
  if (!o.adapter_loading) {
    return {};
  }
  return [&model](const std::string& folder) { return model.load_adapter(folder); };
}

/// Checks every number against its range; Error(usage) names option, value and range.
inference::ServingSettings settings_of(const ServeFlags& o, LoadedModel& model) {
  check_range("--port", o.port, {0, 65535});
  check_range("--max-connections", o.connections, {1, 65536});
  check_range("--max-waiting", o.queue, {1, 1 << 20});
  check_range("--max-body-mb", o.body_mb, {1, 4096});
  const Index bodies_mb = o.bodies_mb > 0 ? o.bodies_mb : 4 * o.body_mb;
  check_range("--max-bodies-mb", bodies_mb, {o.body_mb, 1 << 20});
  check_range("--drain-seconds", o.drain_seconds, {0, 86400});
  check_range("--prompt-tokens-beside-answers", o.prompt_tokens, {0, 1 << 20});
  inference::SchedulerSettings scheduler = o.model.scheduling();
  scheduler.prompt_tokens_beside_answers = o.prompt_tokens;
  return {.http = {.host = o.host,
                   .port = static_cast<std::uint16_t>(o.port),
                   .max_connections = static_cast<std::size_t>(o.connections),
                   .max_body_bytes = static_cast<std::size_t>(o.body_mb) << 20,
                   .max_bodies_bytes = static_cast<std::size_t>(bodies_mb) << 20},
          .scheduler = scheduler,
          .model_name = model.name,
          .api_key = o.api_key,
          .chat = model.chat_template(o.chat_template),
          .images = images_of(o, model),
          .adapters = model.adapters(),
          .read_adapter = reader_of(o, model),
          .version = build_info::kVersion,
          .max_waiting = o.queue,
          .drain = std::chrono::seconds(o.drain_seconds),
          .steps_on = inference::StepsOn::caller};
}

/// Answers until one of the signals comes, and then what is open; whether all was answered.
bool serve_until(const sigset_t& ends, inference::Serving& serving) {
  bool all = false;
  std::thread ending([&] {
    int signal = 0;
    sigwait(&ends, &signal);
    all = serving.drain();
    serving.stop();
  });
  serving.run_steps();
  ending.join();
  return all;
}

}  // namespace

int serve(const Arguments& arguments) {
  ServeFlags options;
  Flags flags("serve",
              "Answers Megatron's PUT /api and OpenAI's /v1/completions and /v1/chat/completions. "
              "SIGTERM and Ctrl-C end it when the open requests are answered.");
  declare(flags, options);
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before any thread, which inherits it
  const auto on_failure = std::make_shared<comm::FailureHandler>();
  const std::shared_ptr<comm::World> world =
      launch_world(options.model.layout.timeout_minutes, nullptr, on_failure);
  const device::HostRuntime runtime;
  LoadedModel model(options.model, world);
  if (!model.leads()) {
    model.follow();
    return static_cast<int>(ExitCode::success);
  }
  inference::Serving serving(*model.engine, *model.tokenizer, settings_of(options, model));
  on_failure->set(
      [&serving](const std::string& sentence) { serving.give_up("the server ends: " + sentence); });
  log::print(fmt::format("serving {} at http://{}:{}", model.name, options.host, serving.port()));
  const bool all = serve_until(ends, serving);
  on_failure->set({});
  log::print(all ? "every request is answered" : "some requests were not answered in time");
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
