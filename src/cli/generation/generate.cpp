#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>

#include "autograd/cached_pass.h"
#include "cli/commands.h"
#include "cli/generation/answer_journal.h"
#include "cli/generation/loaded_model.h"
#include "cli/generation/model_fingerprint.h"
#include "cli/image_prompts.h"
#include "cli/run/launch.h"
#include "inference/protocol/fields.h"
#include "inference/protocol/served_model.h"
#include "inference/scheduling/generator.h"
#include "io/logs/json_text.h"
#include "utils/log.h"
#include "utils/text/hash.h"
#include "utils/text/utf8.h"
#include "utils/timer.h"

// `mpitron generate`: continues prompts in one batch and prints them, or writes JSON lines that a
// killed run takes up again (AnswerJournal). A text depends on the sampling options, prompt, seed
// and prompt number, not on batch or layout. With --num-tokens-to-generate 0 it measures the
// prompts' perplexity. Defaults are those of Megatron's text generation. --json tells how fast the
// engine was, without the program's start, so that a server can be held against it.

namespace mpitron::cli {
namespace {

struct GenerateFlags {
  ModelOptions model;
  std::vector<std::string> prompts, images;
  std::string prompt_file, output;
  Index tokens = 30, top_k = 1, seed = 1234, top = 0;
  double temperature = 1, top_p = 0;
  bool log_probs = false, json = false;
};

void declare(Flags& flags, GenerateFlags& o) {
  o.model.declare(flags);
  o.model.declare_adapters(flags, "for all answers; of several each prompt of a file names one");
  flags.option("--prompts", o.prompts, "texts to continue; `-`: standard input as one text");
  flags.option(
      "--prompt-file", o.prompt_file,
      "JSONL file whose field `text` is a prompt, and `adapter` the name of its adapter or "
      "of the model");
  flags.option(
      "--image", o.images,
      "image files; every prompt is then what is asked about them, <image> in it the place "
      "of one, in front unless it is said");
  flags.option("--num-tokens-to-generate", o.tokens,
               "most tokens of an answer; 0: the perplexity of the prompts");
  flags.option("--temperature", o.temperature, "0: the likeliest token");
  flags.option("--top-k", o.top_k, "tokens to draw from; 1: the likeliest; 0: all");
  flags.option("--top-p", o.top_p, "probability to draw from; 0: all");
  flags.option("--seed", o.seed, "the same seed, the same texts");
  flags.flag("--return-log-probs", o.log_probs, "log-probabilities in the output file");
  flags.option("--top-n-logprobs", o.top, "likeliest tokens beside each in the output file");
  flags.option("--output-path", o.output,
               "JSONL file for the answers; a run that was killed goes on from OUTPUT.part");
  flags.flag("--json", o.json,
             "print one line of JSON instead of texts: tokens, and the seconds that they took "
             "once the model was loaded");
}

struct Prompt {
  std::string text;
  std::string where;         // "--prompts 3" or "file.jsonl:17"
  std::string adapter = {};  // as the file names it; empty: not said
};

std::vector<Prompt> prompts_of(const GenerateFlags& o) {
  std::vector<Prompt> prompts;
  for (const std::string& text : o.prompts) {
    prompts.push_back({text, fmt::format("--prompts {}", prompts.size() + 1)});
    if (text == "-") {
      prompts.back().text.assign(std::istreambuf_iterator<char>(std::cin), {});
    }
  }
  if (!o.prompt_file.empty()) {
    std::ifstream file(o.prompt_file);
    if (!file) {
      throw_data("--prompt-file {}: it cannot be read", o.prompt_file);
    }
    Index number = 0;
    for (std::string line; std::getline(file, line);) {
      const std::string where = fmt::format("{}:{}", o.prompt_file, ++number);
      try {
        const inference::Fields fields = inference::Fields::parse(line);
        prompts.push_back({fields.text("text", ""), where, fields.text("adapter", "")});
      } catch (const inference::RequestError& error) {
        throw_data("{}: {}", where, error.what());
      }
    }
  }
  if (prompts.empty()) {
    throw_usage("there is nothing to continue: give --prompts or --prompt-file");
  }
  return prompts;
}

/// Writes numbers in the shortest form that reads back to the same float.
std::string list_of(const std::vector<inference::TokenLogProbs>& values) {
  std::string text = "[";
  for (const inference::TokenLogProbs& each : values) {
    text += (text.size() > 1 ? ", " : "") + io::json_number(inference::shortest(each.token.value));
  }
  return text + "]";
}

std::string top_of(const std::vector<inference::TokenLogProbs>& values,
                   const tokenizers::Tokenizer& tokenizer) {
  std::string text = "[";
  for (const inference::TokenLogProbs& each : values) {
    text += text.size() > 1 ? ", {" : "{";
    for (std::size_t i = 0; i < each.top.size(); ++i) {
      const std::string token =
          replace_invalid_utf8(tokenizer.decode(std::span(&each.top[i].id, 1)));
      text += (i > 0 ? ", " : "") + io::json_string(token) + ": " +
              io::json_number(inference::shortest(each.top[i].value));
    }
    text += "}";
  }
  return text + "]";
}

/// Writes one line of --output-path; names of its members are those of Megatron's text generation
/// server.
std::string line_of(const GenerateFlags& o, const std::string& prompt,
                    const inference::Answer& answer, const tokenizers::Tokenizer& tokenizer) {
  const bool stopped = answer.finish == inference::FinishReason::stop;
  std::string line = "{\"prompt\": " + io::json_string(prompt) +
                     ", \"text\": " + io::json_string(answer.text) +
                     ", \"finish_reason\": " + (stopped ? "\"stop\"" : "\"length\"");
  if (o.log_probs) {
    line += ", \"prompt_log_probs\": " + list_of(answer.prompt_log_probs) +
            ", \"generated_log_probs\": " + list_of(answer.log_probs);
  }
  if (o.top > 0) {
    line += ", \"generated_top_n_logprobs\": " + top_of(answer.log_probs, tokenizer);
  }
  return line + "}\n";
}

/// Makes a request of each prompt. `choice` is the prompt's number, so that equal prompts draw
/// differently. An empty prompt begins with the token that begins texts, or with eod.
std::vector<inference::GenerationRequest> requests_of(const GenerateFlags& o,
                                                      const LoadedModel& model,
                                                      const std::vector<Prompt>& prompts) {
  std::vector<inference::GenerationRequest> requests;
  if (!o.images.empty() && !model.config().vlm) {
    const bool axes = !model.config().mrope_section.empty();
    throw_usage(
        "--image: the model of --load {} sees none{}", o.model.load,
        axes ? "; of Qwen2-VL the language model alone was converted (--model-type qwen2_vl_text)"
             : "");
  }
  const ImagePrompts about(model.config().vlm.value_or(config::VlmConfig()), *model.tokenizer);
  const std::vector<inference::PromptImage> images = about.read(o.images);
  for (const auto& [prompt, where, adapter] : prompts) {
    inference::GenerationRequest request{
        .prompt = model.tokenizer->encode(prompt),
        .max_tokens = o.tokens,
        .sampling = {.temperature = o.temperature,
                     .top_k = o.top_k,
                     .top_p = o.top_p > 0 ? o.top_p : 1,
                     .seed = static_cast<std::uint64_t>(o.seed),
                     .choice = static_cast<std::uint32_t>(requests.size())},
        .stop_ids = {model.tokenizer->eod()},
        .log_probs = o.log_probs || o.top > 0 ? o.top : -1,
        .prompt_log_probs = o.log_probs || o.tokens == 0,
        .adapter = adapter.empty() ? model.only_adapter() : model.adapter(adapter)};
    if (!images.empty()) {
      about.ask(prompt, images, request);
    }
    if (request.prompt.empty()) {
      request.prompt.push_back(model.tokenizer->special_ids().bos.value_or(model.tokenizer->eod()));
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

/// The messages on --top-k and --top-p are those of Megatron's server, which clients compare.
void check(const GenerateFlags& o) {
  if (o.top_k > 1 && o.top_p > 0) {
    throw_usage("Cannot have top-p and top-k both greater than zero");
  }
  if (o.top_p < 0 || o.top_p > 1) {
    throw_usage("--top-p {}: top-p should be in (0,1]", o.top_p);
  }
  if (o.tokens < 0 || o.temperature < 0 || o.top_k < 0 || o.top < 0) {
    throw_usage(
        "--num-tokens-to-generate, --temperature, --top-k and --top-n-logprobs are at least 0");
  }
}

/// Adds the prompt's loss in natural logarithms; it is there only where prompts are scored.
FinishedAnswer finished(const GenerateFlags& o, const std::string& prompt,
                        const inference::Answer& answer, const tokenizers::Tokenizer& tokenizer) {
  FinishedAnswer finished{.line = line_of(o, prompt, answer, tokenizer)};
  for (const inference::TokenLogProbs& each : answer.prompt_log_probs) {
    finished.loss -= static_cast<double>(each.token.value);
    ++finished.tokens;
  }
  return finished;
}

/// Hashes everything beside the model on which an answer depends; layout and batch are left out, so
/// a run may go on with other ranks.
std::string digest(const GenerateFlags& o,
                   const std::vector<inference::GenerationRequest>& requests) {
  Hasher128 hasher;
  hasher.update(fmt::format("{} {} {} {} {} {} {} {} {} {}", requests.size(), o.tokens,
                            o.temperature, o.top_k, o.top_p, o.seed, o.log_probs, o.top,
                            o.model.weights, o.model.types.words()));
  for (const inference::GenerationRequest& request : requests) {
    hasher.update(fmt::format("\n{} {} {}", fmt::join(request.prompt, " "),
                              request.stop_ids.front(),
                              request.adapter ? request.adapter->number() : 0));
    for (const inference::PromptImage& image : request.images) {
      const auto pixels = std::as_bytes(std::span(*image));
      hasher.update({reinterpret_cast<const char*>(pixels.data()), pixels.size()});
    }
  }
  return hasher.digest().hex();
}

/// Loss of the prompts in natural logarithms, over all tokens but the first of each, which nothing
/// predicts. No tokens: they were not scored.
struct PromptLoss {
  Index tokens = 0;
  double mean = 0;

  explicit PromptLoss(const std::vector<FinishedAnswer>& answers) {
    double sum = 0;
    for (const FinishedAnswer& answer : answers) {
      sum += answer.loss;
      tokens += answer.tokens;
    }
    mean = tokens > 0 ? sum / static_cast<double>(tokens) : 0;
  }
  double perplexity() const { return std::exp(mean); }
};

/// What a run has computed, and how long that took from the first step to the last.
struct Rate {
  Index answers = 0, prompt_tokens = 0, generated_tokens = 0;
  double seconds = 0;

  std::string json(const PromptLoss& loss) const {
    const double tokens = seconds > 0 ? static_cast<double>(generated_tokens) / seconds : 0;
    std::string line = fmt::format(
        "{{\"answers\": {}, \"prompt_tokens\": {}, \"generated_tokens\": {}, "
        "\"seconds\": {:.6f}, \"tokens_per_second\": {:.3f}",
        answers, prompt_tokens, generated_tokens, seconds, tokens);
    if (loss.tokens > 0) {
      line += fmt::format(", \"perplexity\": {:.6f}", loss.perplexity());
    }
    return line + "}";
  }
};

/// Hands a request to the generator; what it refuses is told of the prompt's place.
void submit(inference::Generator& generator, const Prompt& prompt,
            inference::GenerationRequest request, const inference::AnswerListener& listener) {
  try {
    generator.submit(std::move(request), listener);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", prompt.where, error.what()));
  }
}

/// Generates the answers that the journal does not hold.
Rate answer_rest(const GenerateFlags& o, LoadedModel& model, const std::vector<Prompt>& prompts,
                 std::vector<inference::GenerationRequest> requests, AnswerJournal& journal) {
  inference::Generator generator(*model.engine, *model.tokenizer, o.model.scheduling());
  const Timer timer;
  Rate rate;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!journal.has(i)) {
      ++rate.answers;
      const auto keep = [&, i](const inference::Answer& answer) {
        if (answer.finish != inference::FinishReason::none) {
          journal.add(i, finished(o, prompts[i].text, answer, *model.tokenizer));
        }
      };
      submit(generator, prompts[i], std::move(requests[i]), keep);
    }
  }
  while (generator.step()) {
  }
  rate.seconds = timer.seconds();
  rate.prompt_tokens = generator.prompt_tokens();
  rate.generated_tokens = generator.generated_tokens();
  return rate;
}

/// Prints the texts, the perplexity where nothing was generated, or the rate.
void print_result(const GenerateFlags& o, const std::vector<Prompt>& prompts,
                  const AnswerJournal& journal, const Rate& rate) {
  const PromptLoss loss(journal.answers());
  if (o.json) {
    log::print(rate.json(loss));
  } else if (o.tokens == 0) {
    log::print(fmt::format("tokens: {} | loss: {:.6E} | perplexity: {:.6E}", loss.tokens, loss.mean,
                           loss.perplexity()));
  } else {
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      log::print(prompts[i].text +
                 inference::Fields::parse(journal.answers()[i].line).text("text", ""));
    }
  }
}

}  // namespace

int generate(const Arguments& arguments) {
  GenerateFlags options;
  Flags flags("generate", "Continues texts. Equal seeds give equal texts, in any batch.");
  declare(flags, options);
  if (!flags.parse(arguments)) {
    return static_cast<int>(ExitCode::success);
  }
  check(options);
  const std::vector<Prompt> prompts = prompts_of(options);
  const std::shared_ptr<comm::World> world = launch_world(options.model.layout.timeout_minutes);
  const device::HostRuntime runtime;
  LoadedModel model(options.model, world);
  if (!model.leads()) {
    model.follow();
    return static_cast<int>(ExitCode::success);
  }
  auto requests = requests_of(options, model, prompts);
  AnswerJournal::Origin origin;
  if (!options.output.empty()) {
    origin = {digest(options, requests), model_fingerprint(options.model.load)};
    for (const inference::ServedAdapter& each : model.adapters()) {
      origin.model += folder_fingerprint(each.folder);
    }
  }
  AnswerJournal journal(options.output, origin, prompts.size());
  const Rate rate = answer_rest(options, model, prompts, std::move(requests), journal);
  print_result(options, prompts, journal, rate);
  journal.finish();
  return static_cast<int>(ExitCode::success);
}

}  // namespace mpitron::cli
