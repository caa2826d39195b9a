#include <iostream>
#include <iterator>

#include <unistd.h>

#include "cli/checkpoint_path.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/generation/chat_terminal.h"
#include "config/values/option_values.h"
#include "inference/client/question.h"
#include "utils/log.h"

// `mpitron ask HOST:PORT`: a client of any server of OpenAI's protocol, streamed to the terminal;
// --dialogue speaks Megatron's PUT /api instead. Exit code: usage for a reply below 500,
// environment from there on.

namespace mpitron::cli {
namespace {

struct AskFlags {
  std::string api_key, system, model;
  Index max_tokens = 0, seed = -1;
  double temperature = -1;
  bool raw = false, json = false, dialogue = false;
};

void declare(Flags& flags, AskFlags& o) {
  flags.flag("--raw", o.raw, "continue the text, also where the model has a chat template");
  flags.option("--system", o.system, "what the model is told before the question");
  flags.option("--max-tokens", o.max_tokens, "most tokens of the answer; 0: what the server gives");
  flags.option("--temperature", o.temperature, "0: the likeliest tokens; below 0: the server's");
  flags.option("--seed", o.seed, "the same seed, the same answer; below 0: one that is drawn");
  flags.option("--model", o.model, "name of the model where the server has several");
  flags.option("--api-key", o.api_key, "what --api-key of the server says");
  flags.flag("--json", o.json, "print the server's whole reply instead of its text");
  flags.flag("--dialogue", o.dialogue,
             "ask for prompts and numbers of tokens and send them to PUT /api, as Megatron-LM's "
             "text_generation_cli.py does; so without a question at a terminal");
}

/// Ends with the server's own message.
[[noreturn]] void tell_refusal(int status, const std::string& body) {
  throw Error(status >= 500 ? ExitCode::environment : ExitCode::usage,
              fmt::format("Error {}: {}", status, inference::message_of(body)));
}

/// Asks for prompts and numbers of tokens until standard input ends; the texts are those of
/// Megatron's text_generation_cli.py, so that scripts that feed it work here.
int hold_dialogue(const inference::HttpAddress& address) {
  std::string prompt, number;
  while (show("Enter prompt: "), std::getline(std::cin, prompt)) {
    std::optional<Index> tokens;
    while (show("Enter number of tokens to generate: "), std::getline(std::cin, number)) {
      tokens = config::read_integer(number);
      if (tokens) {
        break;
      }
      log::print("that is no whole number");
    }
    if (!tokens) {
      break;
    }
    std::string body;
    const int status = inference::ask_http(address, inference::megatron_request_of(prompt, *tokens),
                                           [&](int, std::string_view bytes) { body += bytes; });
    if (status == 200) {
      log::print("Megatron Response: ");
      log::print(inference::text_of(body).value_or(body));
    } else {
      log::print(fmt::format("Error {}: {}", status, inference::message_of(body)));
    }
  }
  log::print("");
  return static_cast<int>(ExitCode::success);
}

/// Sends one question, as a chat where the server has a chat template and --raw does not forbid it.
/// Values that were not given are left out of the request: they are the server's to choose.
int ask_once(const inference::HttpAddress& address, const AskFlags& o, const std::string& text) {
  inference::Question question{.text = text,
                               .chat = !o.raw && inference::has_chat(address, o.api_key),
                               .system = o.system,
                               .model = o.model,
                               .stream = !o.json};
  if (o.max_tokens > 0) {
    question.max_tokens = o.max_tokens;
  }
  if (o.temperature >= 0) {
    question.temperature = o.temperature;
  }
  if (o.seed >= 0) {
    question.seed = o.seed;
  }
  inference::ReplyReader reader(show);
  const int status = inference::ask_http(address, request_of(question, o.api_key),
                                         [&](int, std::string_view bytes) { reader.take(bytes); });
  if (status != 200) {
    tell_refusal(status, reader.body());
  }
  log::print(o.json ? reader.body() : "");
  return static_cast<int>(ExitCode::success);
}

}  // namespace

int ask(const Arguments& arguments) {
  Arguments words = arguments;
  const Arguments operands = take_paths(words);
  AskFlags options;
  Flags flags("ask",
              "Asks a running server of mpitron, or of OpenAI's protocol, and prints the answer as "
              "it comes. Without a question standard input is the question.",
              "HOST:PORT [QUESTION]");
  declare(flags, options);
  if (!flags.parse(words)) {
    return static_cast<int>(ExitCode::success);
  }
  if (operands.empty()) {
    throw_usage("ask: no server given: mpitron ask HOST:PORT [QUESTION]");
  }
  const inference::HttpAddress address = inference::HttpAddress::parse(operands[0]);
  if (options.dialogue || (operands.size() == 1 && ::isatty(STDIN_FILENO) != 0)) {
    return hold_dialogue(address);
  }
  const std::string text =
      operands.size() > 1 ? fmt::format("{}", fmt::join(operands.begin() + 1, operands.end(), " "))
                          : std::string(std::istreambuf_iterator<char>(std::cin), {});
  return ask_once(address, options, text);
}

}  // namespace mpitron::cli
