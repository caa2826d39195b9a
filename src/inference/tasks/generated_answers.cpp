#include "inference/tasks/generated_answers.h"

#include <algorithm>

#include "inference/tasks/image_answers.h"
#include "inference/tasks/text_overlap.h"

// Answers that a model generates: all questions are asked at once, the engine batches them, and
// filters of the task cut what counts out of each answer.

namespace mpitron::inference {
namespace {

/// Cuts an answer as lm-evaluation-harness does: in front of the first stop text.
std::string cut(std::string answer, const std::vector<std::string>& until) {
  for (const std::string& stop : until) {
    answer.resize(std::min(answer.find(stop), answer.size()));
  }
  return answer;
}

/// Measures overlap of words, which needs the whole corpus where n-grams are counted over all
/// answers.
void measure_overlap(const EvaluationTask& task, const std::vector<TaskQuestion>& questions,
                     GenerationResult& result) {
  std::vector<std::pair<std::string, std::string>> texts;
  double sum = 0, counted = 0;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    texts.emplace_back(result.answers[i], questions[i].target);
    if (const auto f1 = word_f1(result.answers[i], questions[i].target)) {
      sum += *f1;
      counted += 1;
    }
  }
  if (task.measures("f1")) {
    result.f1 = counted > 0 ? sum / counted : 0;
  }
  if (task.measures("bleu")) {
    result.bleu = corpus_bleu(texts);
  }
}

/// Measures answers with several right ones each.
void measure_references(const EvaluationTask& task, const std::vector<TaskQuestion>& questions,
                        GenerationResult& result) {
  const auto mean = [&](const char* metric, auto&& measure) -> std::optional<double> {
    if (!task.measures(metric)) {
      return std::nullopt;
    }
    double sum = 0;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      sum += measure(result.answers[i], questions[i].references);
    }
    return sum / static_cast<double>(questions.size());
  };
  result.vqa = mean("vqa_accuracy", vqa_accuracy);
  result.relaxed = mean("relaxed_accuracy", relaxed_accuracy);
  if (task.measures("cider")) {
    std::vector<std::pair<std::string, std::vector<std::string>>> captions;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      captions.emplace_back(result.answers[i], questions[i].references);
    }
    result.cider = cider(captions);
  }
}

/// Makes the prompt, cut from the front where the context would leave no room for the answer.
void prepare(const tokenizers::Tokenizer& tokenizer, const TaskQuestion& question, Index longest,
             GenerationRequest& request, Index& cut) {
  request.prompt = tokenizer.encode(question.contexts.front());
  const auto most = static_cast<std::size_t>(longest);
  if (request.prompt.size() > most) {
    request.prompt.erase(request.prompt.begin(),
                         request.prompt.end() - static_cast<std::ptrdiff_t>(most));
    ++cut;
  }
  if (request.prompt.empty()) {
    request.prompt.push_back(tokenizer.special_ids().bos.value_or(tokenizer.eod()));
  }
}

/// Settings with which all questions of a task are asked.
struct Asking {
  Engine& engine;
  const tokenizers::Tokenizer& tokenizer;
  const EvaluationTask& task;
  const ShowImages& show;
  Index answer = 1;  // most tokens of one
};

/// Makes a greedy request that ends where the task's answers end.
GenerationRequest request_of(const Asking& how, const TaskQuestion& question, Index& cut) {
  GenerationRequest request{.prompt = {},
                            .max_tokens = how.answer,
                            .sampling = {.temperature = 0, .top_k = 1},
                            .stop_ids = {how.tokenizer.eod()}};
  for (const std::string& stop : how.task.until) {
    request.stop_texts.before.push_back(stop);
  }
  if (how.show) {
    how.show(question, request);
  } else if (!question.images.empty()) {
    throw_usage("{} asks about images; the model sees none", how.task.name);
  } else {
    prepare(how.tokenizer, question, how.engine.shape().max_positions - how.answer, request, cut);
  }
  return request;
}

}  // namespace

/// Some questions at a time, so that not all images are in memory; those behind them share what is
/// cached of their beginnings.
GeneratedAnswers generate_answers(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                                  const EvaluationTask& task,
                                  const std::vector<TaskQuestion>& questions,
                                  const ShowImages& show) {
  constexpr std::size_t kAtOnce = 256;
  const Index most = std::max<Index>(engine.shape().max_positions / 2, 1);
  const Asking how{engine, tokenizer, task, show, std::min<Index>(task.max_tokens, most)};
  Generator generator(engine, tokenizer, {});
  GeneratedAnswers result;
  for (std::span<const TaskQuestion> rest = questions; !rest.empty();) {
    const std::span<const TaskQuestion> some = rest.first(std::min(kAtOnce, rest.size()));
    rest = rest.subspan(some.size());
    std::vector<GenerationRequest> requests;
    for (const TaskQuestion& question : some) {
      requests.push_back(request_of(how, question, result.cut));
    }
    for (const Answer& own : generator.run(std::move(requests))) {
      result.answers.push_back(cut(own.text, task.until));
    }
  }
  return result;
}

GenerationResult compare_answers(const EvaluationTask& task,
                                 const std::vector<TaskQuestion>& questions,
                                 GeneratedAnswers generated) {
  GenerationResult result{{std::move(generated)}, {}, {}, {}, {}, {}, {}};
  for (const AnswerFilter& filter : task.filters) {
    std::vector<bool> correct;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      correct.push_back(task.comparison.same(filter(result.answers[i]), questions[i].target));
    }
    result.correct.push_back(std::move(correct));
  }
  measure_overlap(task, questions, result);
  measure_references(task, questions, result);
  return result;
}

}  // namespace mpitron::inference
