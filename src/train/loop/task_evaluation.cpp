#include "train/loop/task_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "checkpoint/plan/agreement.h"
#include "io/logs/json_text.h"
#include "tensor/host_copy.h"
#include "train/batches/microbatch_stream.h"
#include "utils/log.h"
#include "utils/system/files.h"
#include "utils/timer.h"

// Predictions of a task's files, gathered over replicas without the samples that only fill up a
// batch, and the measures of GLUE.

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

namespace {

/// Counts how often class 1 is predicted and right, predicted and wrong, and so on.
struct Confusion {
  double true_positive = 0, false_positive = 0, false_negative = 0, true_negative = 0;

  explicit Confusion(const TaskResult& result) {
    for (std::size_t i = 0; i < result.labels.size(); ++i) {
      const bool predicted = result.predicted[i] == 1, right = result.labels[i] == 1;
      (predicted ? (right ? true_positive : false_positive)
                 : (right ? false_negative : true_negative)) += 1;
    }
  }
  double f1() const {
    const double all = 2 * true_positive + false_positive + false_negative;
    return all > 0 ? 2 * true_positive / all : 0;
  }
  double matthews() const {
    const double norm = (true_positive + false_positive) * (true_positive + false_negative) *
                        (true_negative + false_positive) * (true_negative + false_negative);
    return norm > 0
               ? (true_positive * true_negative - false_positive * false_negative) / std::sqrt(norm)
               : 0;
  }
};

/// Pearson's correlation; 0 where one of both is constant.
double pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

/// Ranks values from 1 on; equal values share the mean of their ranks, as Spearman's correlation
/// wants it.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) {
      ++end;
    }
    for (std::size_t i = first; i < end; ++i) {
      result[order[i]] = static_cast<double>(first + end + 1) / 2;
    }
    first = end;
  }
  return result;
}

}  // namespace

Index TaskResult::correct() const {
  Index count = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    count += predicted[i] == labels[i] ? 1 : 0;
  }
  return count;
}

void TaskResult::append(const TaskResult& other) {
  predicted.insert(predicted.end(), other.predicted.begin(), other.predicted.end());
  labels.insert(labels.end(), other.labels.begin(), other.labels.end());
}

double prediction_of(std::span<const double> numbers, const config::TextHead& head) {
  return head.score ? numbers.front()
                    : static_cast<double>(std::ranges::max_element(numbers) - numbers.begin());
}

std::vector<std::pair<std::string, double>> other_metrics(const TaskResult& result,
                                                          config::TaskMetric metric) {
  switch (metric) {
    case config::TaskMetric::f1:
      return {{"F1", Confusion(result).f1()}};
    case config::TaskMetric::matthews:
      return {{"Matthews correlation", Confusion(result).matthews()}};
    case config::TaskMetric::correlation:
      return {{"Pearson correlation", pearson(result.predicted, result.labels)},
              {"Spearman correlation", pearson(ranks(result.predicted), ranks(result.labels))}};
    case config::TaskMetric::accuracy:
      break;
  }
  return {};
}

}  // namespace mpitron::train
