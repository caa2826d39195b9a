#include "cli/commands.h"
#include "cli/generation/chat_terminal.h"
#include "cli/generation/loaded_model.h"
#include "cli/run/launch.h"
#include "inference/scheduling/generator.h"
#include "inference/templates/conversation.h"

// `mpitron chat`: a conversation in the terminal with a model in this process. Rank 0 reads,
// generates and prints; the other ranks of its layout follow its steps.

namespace mpitron::cli {
namespace {

struct ChatFlags {
  ModelOptions model;
  std::string system, chat_template;
  Index tokens = 0, top_k = 0, seed = 1234;
  double temperature = 0.7, top_p = 0.95;
};

void declare(Flags& flags, ChatFlags& o) {
  o.model.max_requests = 1;
  o.model.declare(flags);
  o.model.declare_adapters(flags, "that is talked to");
  flags.option("--system", o.system, "what the model is told first");
  flags.option("--chat-template", o.chat_template, "Jinja file instead of the model's template");
  flags.option("--num-tokens-to-generate", o.tokens,
               "most tokens of an answer; 0: what the model's positions leave");
  flags.option("--temperature", o.temperature, "0: the likeliest token");
  flags.option("--top-k", o.top_k, "tokens to draw from; 0: all");
  flags.option("--top-p", o.top_p, "probability to draw from");
  flags.option("--seed", o.seed, "the same seed and the same questions, the same answers");
}

void check(const ChatFlags& o) {
  if (o.tokens < 0 || o.temperature < 0 || o.top_k < 0 || o.top_p <= 0 || o.top_p > 1) {
    throw_usage(
        "--num-tokens-to-generate, --temperature and --top-k are at least 0, --top-p is in (0,1]");
  }
}

/// A conversation with a model in memory.
class Chat {
 public:
  Chat(const ChatFlags& options, LoadedModel& model, ChatTerminal& terminal)
      : options_(options),
        model_(model),
        terminal_(terminal),
        generator_(*model.engine, *model.tokenizer, options.model.scheduling()),
        conversation_(*model.tokenizer, model.chat_template(options.chat_template),
                      options.system) {}

  /// Answers line after line until standard input ends or /exit is typed.
  void hold() {
    log::print(fmt::format("{}; /help tells the commands, Ctrl-C ends an answer", model_.name));
    if (!conversation_.has_template()) {
      log::print("it has no chat template: it goes on with what is typed");
    }
    while (const auto line = terminal_.line("> ")) {
      if (*line == "/exit") {
        return;
      }
      if (line->starts_with("/")) {
        command(*line);
      } else if (!line->empty()) {
        answer(*line);
      }
    }
    show("\n");
  }

 private:
  void command(const std::string& line) {
    const std::string system = "/system";
    if (line == "/reset") {
      conversation_.reset();
      log::print("the conversation begins anew");
    } else if (line == system || line.starts_with(system + " ")) {
      conversation_.reset(line == system ? "" : line.substr(system.size() + 1));
      log::print("the conversation begins anew with this system text");
    } else {
      log::print(
          "/reset begins anew; /system TEXT begins anew and tells the model this first; /exit or "
          "Ctrl-D ends the chat; Ctrl-C ends an answer");
    }
  }

  void answer(const std::string& text) {
    try {
      generate(text);
    } catch (const Error& error) {  // of the template, or a prompt that is too long
      log::print(error.what());
    }
  }

  /// Encodes the whole conversation; the prefix cache finds what earlier turns have computed.
  /// Error(usage) where no position is left for an answer.
  inference::GenerationRequest request_of(const std::string& text) const {
    tokenizers::TokenIds prompt = conversation_.prompt(text);
    const Index positions = model_.engine->shape().max_positions;
    const Index left = positions - static_cast<Index>(prompt.size());
    if (left < 1) {
      throw_usage("the conversation has {} tokens, the model takes {}: /reset begins anew",
                  prompt.size(), positions);
    }
    return {.prompt = std::move(prompt),
            .max_tokens = options_.tokens > 0 ? std::min(options_.tokens, left) : left,
            .sampling = {.temperature = options_.temperature,
                         .top_k = options_.top_k,
                         .top_p = options_.top_p,
                         .seed = static_cast<std::uint64_t>(options_.seed)},
            .stop_ids = {model_.tokenizer->eod()},
            .adapter = model_.only_adapter()};
  }

  /// Shows the answer while its tokens come; Ctrl-C leaves it as it is then.
  void generate(const std::string& text) {
    std::string shown;
    bool finished = false;
    terminal_.interrupted();  // what was typed before counts no more
    const std::uint64_t id =
        generator_.submit(request_of(text), [&](const inference::Answer& answer) {
          show(std::string_view(answer.text).substr(shown.size(), answer.settled - shown.size()));
          shown = answer.text.substr(0, answer.settled);
          finished = answer.finish != inference::FinishReason::none;
        });
    while (!finished && !terminal_.interrupted() && generator_.step()) {
    }
    if (!finished) {
      generator_.cancel(id);
      show(" [ended]");
    }
    show("\n");
    conversation_.add(text, shown);
  }

  const ChatFlags& options_;
  LoadedModel& model_;
  ChatTerminal& terminal_;
  inference::Generator generator_;
  inference::Conversation conversation_;
};

}  // namespace

int chat(const Arguments& arguments) {
  ChatFlags options;
  Flags flags(
      "chat",
      "Talks to a model in the terminal, by its chat template where it has one. Ctrl-C ends "
      "an answer, Ctrl-D the chat; /help tells the commands.");
  declare(flags, options);
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  check(options);
  ChatTerminal terminal;
  const std::shared_ptr<comm::World> world = launch_world(options.model.layout.timeout_minutes);
  const device::HostRuntime runtime;
  LoadedModel model(options.model, world);
  if (!model.leads()) {
    model.follow();
    return static_cast<int>(ExitCode::success);
  }
  Chat(options, model, terminal).hold();
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
