#include "train/loop/task_evaluation.h"

#include <algorithm>
#include <cmath>

#include "checkpoint/plan/agreement.h"
#include "io/logs/json_text.h"
#include "tensor/host_copy.h"
#include "train/batches/microbatch_stream.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/timer.h"

// Predictions of a task's files, gathered over replicas without the samples that only fill up a
// batch.

namespace mpitron::train {
namespace {

double percent(const TaskResult& result) {
  return 100.0 * static_cast<double>(result.correct()) / static_cast<double>(result.total());
}

std::string metrics_text(const TaskEvaluation::Figures& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) {
    text += fmt::format(", {} = {:.4f}", name, value);
  }
  return text;
}

std::string counts(const TaskResult& result, bool score) {
  return score ? fmt::format("total = {}", result.total())
               : fmt::format("correct / total = {} / {} = {:.4f} %", result.correct(),
                             result.total(), percent(result));
}

/// Formats probabilities of classes or choices; a score is itself.
std::string numbers_json(std::span<const double> numbers, bool score) {
  std::vector<double> values(numbers.begin(), numbers.end());
  if (!score) {
    const double largest = std::ranges::max(values);
    double sum = 0;
    for (double& value : values) {
      value = std::exp(value - largest);
      sum += value;
    }
    std::ranges::for_each(values, [sum](double& value) { value /= sum; });
  }
  std::string text;
  for (const double value : values) {
    text += (text.empty() ? "" : ", ") + fmt::format("{:.6g}", value);
  }
  return "[" + text + "]";
}

}  // namespace

std::vector<double> TaskEvaluation::numbers_of(const TaskFile& file) const {
  const config::TextHead& head = *config_.model.text_head;
  const Index columns = head.columns(), samples = file.set->size();
  auto [stream, batches] = whole_set(file.set, samples * head.choices, config_, data_, model_);
  std::vector<double> numbers(static_cast<std::size_t>(samples * columns));
  const auto take = [&](const tensor::Tensor& logits, const DeviceMicrobatch& microbatch) {
    const tensor::Tensor host = tensor::to_host(step_.device(), logits);
    const Index first = microbatch.first_sample / head.choices * columns;
    const Index count = std::min(host.numel(), static_cast<Index>(numbers.size()) - first);
    visit_dtype(host.dtype(), [&]<class T>() {
      for (Index i = 0; i < count && model_.groups().tensor->rank() == 0; ++i) {
        numbers[static_cast<std::size_t>(first + i)] =
            static_cast<double>(static_cast<float>(host.data<T>()[i]));
      }
    });
  };
  for (Index i = 0; i < batches; ++i) {
    step_.logits(stream.next(), take);
  }
  // Of each number one rank has the value, and all others add 0.
  const auto size = static_cast<Index>(numbers.size());
  model_.world().all()->all_reduce({numbers.data(), DType::f64, {size}}).wait();
  return numbers;
}

TaskResult TaskEvaluation::result_of(const TaskFile& file,
                                     const std::vector<double>& numbers) const {
  const config::TextHead& head = *config_.model.text_head;
  const auto columns = static_cast<std::size_t>(head.columns());
  TaskResult result;
  for (Index i = 0; i < file.set->size(); ++i) {
    const auto own = std::span(numbers).subspan(static_cast<std::size_t>(i) * columns, columns);
    result.predicted.push_back(prediction_of(own, head));
    result.labels.push_back(file.set->text(i).label);
  }
  return result;
}

TaskEvaluation::Figures TaskEvaluation::run(Index epoch) const {
  const bool score = config_.model.text_head->score;
  const config::TaskMetric metric = config::find_text_task(config_.data.text_task->name)->metric;
  Figures figures;
  TaskResult all;
  std::vector<std::vector<double>> numbers;
  const auto note = [&](const std::string& name, const TaskResult& result) {
    const Figures metrics = other_metrics(result, metric);
    if (!score) {
      figures.emplace_back("accuracy " + name, percent(result) / 100);
    }
    for (const auto& [what, value] : metrics) {
      figures.emplace_back(what + ' ' + name, value);
    }
    return counts(result, score) + metrics_text(metrics);
  };
  for (const TaskFile& file : data_.task_files) {
    const Timer timer;
    numbers.push_back(numbers_of(file));
    const TaskResult result = result_of(file, numbers.back());
    all.append(result);
    log::print(fmt::format(" > |epoch: {}| metrics for {}: {}, elapsed time (sec): {:.3f}", epoch,
                           file.name, note(file.name, result), timer.seconds()));
  }
  if (!data_.task_files.empty()) {
    log::print(fmt::format(" >> |epoch: {}| overall: {}", epoch, note("overall", all)));
  }
  if (config_.data.text_task->predictions) {
    checkpoint::on_member_0(*model_.world().all(), [&] { write_predictions(numbers); });
  }
  return figures;
}

void TaskEvaluation::write_predictions(const std::vector<std::vector<double>>& numbers) const {
  const config::TextHead& head = *config_.model.text_head;
  const auto columns = static_cast<std::size_t>(head.columns());
  AtomicFile output(*config_.data.text_task->predictions);
  for (std::size_t f = 0; f < numbers.size(); ++f) {
    const TaskFile& file = data_.task_files[f];
    for (Index i = 0; i < file.set->size(); ++i) {
      const auto own =
          std::span(numbers[f]).subspan(static_cast<std::size_t>(i) * columns, columns);
      output.write(fmt::format(R"({{"data": {}, "id": {}, "prediction": {}, "{}": {}}})"
                               "\n",
                               io::json_string(file.name), file.set->text(i).id,
                               io::json_number(prediction_of(own, head)),
                               head.score ? "scores" : "probabilities",
                               numbers_json(own, head.score)));
    }
  }
  output.commit();
}

}  // namespace mpitron::train
