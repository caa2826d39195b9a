// Compares features of validation images with those of training images by cosine. Each replica
// keeps the features of its own training images; questions go round to all, which answer with their
// best, so that no rank holds the whole set.
#include "train/loop/nearest_neighbours.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kernels/linear/matmul.h"
#include "tensor/host_copy.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

constexpr Index kMost = kNeighbourCounts.back();

/// Appends x / |x| to `features`.
template <class Value>
void add_direction(Index width, const Value& value, std::vector<float>& features) {
  double squares = 0;
  for (Index i = 0; i < width; ++i) {
    squares += value(i) * value(i);
  }
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (Index i = 0; i < width; ++i) {
    features.push_back(static_cast<float>(value(i) / length));
  }
}

tensor::Tensor on_device(device::Device& device, const std::vector<float>& values,
                         const Shape& shape) {
  const tensor::Tensor result = tensor::empty_on_host(device, shape, DType::f32);
  std::ranges::copy(values, result.data<float>());
  return tensor::to_device(device, result);
}

/// Gathers every member's numbers, in group order; as many on each.
std::vector<double> gathered(comm::Group& group, const std::vector<double>& own) {
  std::vector<double> all(own.size() * static_cast<std::size_t>(group.size()));
  std::vector<double> copy = own;
  const auto count = static_cast<Index>(own.size());
  group
      .all_gather(tensor::TensorView(copy.data(), DType::f64, {count}),
                  tensor::TensorView(all.data(), DType::f64, {count * group.size()}))
      .wait();
  return all;
}

}  // namespace

void NearestNeighbours::add_features(const HostMicrobatch& microbatch, Index number,
                                     Images& images) {
  const auto take = [&](const tensor::Tensor& computed, const DeviceMicrobatch&) {
    const tensor::Tensor rows = tensor::to_host(step_.device(), computed);
    const Index width = rows.shape()[-1];
    for (Index row = 0; row < microbatch.samples && !microbatch.columns.empty(); ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (microbatch[models::kLossMask][at] == 0) {
        continue;
      }
      visit_dtype(rows.dtype(), [&]<class T>() {
        add_direction(
            width, [&](Index i) { return static_cast<float>(rows.data<T>()[row * width + i]); },
            images.features);
      });
      images.labels.push_back(microbatch[models::kLabels][at]);
      images.numbers.push_back(number + row);
    }
  };
  step_.logits(microbatch, take);
}

void NearestNeighbours::learn(Index microbatches, const NextMicrobatch& next) {
  known_ = {};
  for (Index i = 0; i < microbatches; ++i) {
    const HostMicrobatch microbatch = next();
    add_features(microbatch, microbatch.first_sample, known_);
  }
  if (known_.size() > 0) {
    const Index width = static_cast<Index>(known_.features.size()) / known_.size();
    known_features_ = on_device(step_.device(), known_.features, {known_.size(), width});
  }
  const double all = model_.groups().data->reduce(static_cast<double>(known_.size()));
  if (all < static_cast<double>(kMost)) {
    log::warning("{} known images, fewer than the {} neighbours that are asked: all of them are",
                 all, kMost);
  }
}

std::vector<double> NearestNeighbours::own_answers(const std::vector<double>& questions,
                                                   Index width) const {
  constexpr Index kNumbersAtOnce = Index{1} << 24;
  const Index count = static_cast<Index>(questions.size()) / width, n = known_.size();
  const Index at_once = std::clamp<Index>(kNumbersAtOnce / std::max<Index>(n, 1), 1, count);
  autograd::Context context{.device = step_.device()};
  std::vector<double> answers;
  for (Index begin = 0; begin < count; begin += at_once) {
    const Index rows = std::min(at_once, count - begin);
    const auto first = questions.begin() + begin * width;
    const std::vector<float> asked(first, first + rows * width);
    tensor::Tensor likeness;
    if (n > 0) {
      const tensor::Tensor products = context.empty({rows, n}, DType::f32);
      context.launch_with_workspace(
          kernels::Matmul{.a = on_device(context.device, asked, {rows, width}).view(),
                          .b = known_features_.view(),
                          .c = products.view(),
                          .transpose_b = true});
      likeness = tensor::to_host(context.device, products);
    }
    for (Index row = 0; row < rows; ++row) {
      std::vector<Neighbour> all(static_cast<std::size_t>(n));
      for (std::size_t i = 0; i < all.size(); ++i) {
        const float like = likeness.data<float>()[row * n + static_cast<Index>(i)];
        all[i] = {static_cast<double>(like), known_.numbers[i], known_.labels[i]};
      }
      all = nearest(std::move(all), kMost);
      all.resize(static_cast<std::size_t>(kMost), {.likeness = 0, .image = 0, .label = -1});
      for (const Neighbour& neighbour : all) {
        answers.insert(answers.end(), {neighbour.likeness, static_cast<double>(neighbour.image),
                                       static_cast<double>(neighbour.label)});
      }
    }
  }
  return answers;
}

std::vector<std::vector<Neighbour>> NearestNeighbours::neighbours_of(const Images& images) const {
  comm::Group& replicas = *model_.groups().data;
  const auto most = static_cast<Index>(
      replicas.reduce(static_cast<double>(images.size()), comm::Reduction::maximum));
  if (most == 0) {
    return {};
  }
  const auto width = static_cast<Index>(replicas.reduce(
      images.size() > 0
          ? static_cast<double>(images.features.size()) / static_cast<double>(images.size())
          : 0,
      comm::Reduction::maximum));
  std::vector<double> asked(images.features.begin(), images.features.end());
  asked.resize(static_cast<std::size_t>(most * width));
  const std::vector<double> questions = gathered(replicas, asked);

  const std::vector<double> all = gathered(replicas, own_answers(questions, width));
  std::vector<std::vector<Neighbour>> result;
  const Index of_rank = most * replicas.size() * kMost * 3;
  for (Index image = 0; image < images.size(); ++image) {
    const Index question = replicas.rank() * most + image;
    std::vector<Neighbour> candidates;
    for (Index rank = 0; rank < replicas.size(); ++rank) {
      const double* numbers = all.data() + rank * of_rank + question * kMost * 3;
      for (Index i = 0; i < kMost && numbers[3 * i + 2] >= 0; ++i) {
        candidates.push_back({numbers[3 * i], static_cast<Index>(numbers[3 * i + 1]),
                              static_cast<Index>(numbers[3 * i + 2])});
      }
    }
    result.push_back(nearest(std::move(candidates), kMost));
  }
  return result;
}

StepReport NearestNeighbours::evaluate(Index microbatches, const NextMicrobatch& next) {
  std::array<double, kNeighbourCounts.size() + 1> counts{};  // right ones, and all
  for (Index i = 0; i < microbatches; ++i) {
    Images images;
    const HostMicrobatch microbatch = next();
    add_features(microbatch, 0, images);
    const auto neighbours = neighbours_of(images);
    for (std::size_t image = 0; image < neighbours.size(); ++image) {
      for (std::size_t k = 0; k < kNeighbourCounts.size(); ++k) {
        const bool right =
            voted_class(neighbours[image], kNeighbourCounts[k]) == images.labels[image];
        counts[k] += right ? 1 : 0;
      }
      counts.back() += 1;
    }
  }
  // Tensor ranks that do not read have counted nothing.
  const auto size = static_cast<Index>(counts.size());
  model_.world().all()->all_reduce({counts.data(), DType::f64, {size}}).wait();
  StepReport report;
  for (std::size_t k = 0; k < kNeighbourCounts.size(); ++k) {
    const std::string name = fmt::format("knn_acc_{}", kNeighbourCounts[k]);
    if (k == 0) {
      report.loss_name = name;
      report.loss_sum = counts[k];
      report.loss_count = counts.back();
    } else {
      report.other_losses.emplace_back(name, counts[k] / std::max(counts.back(), 1.0));
    }
  }
  return report;
}

std::vector<Neighbour> nearest(std::vector<Neighbour> neighbours, Index count) {
  const auto before = [](const Neighbour& a, const Neighbour& b) {
    return a.likeness != b.likeness ? a.likeness > b.likeness : a.image < b.image;
  };
  const auto kept = std::min(static_cast<std::size_t>(count), neighbours.size());
  std::partial_sort(neighbours.begin(), neighbours.begin() + static_cast<Index>(kept),
                    neighbours.end(), before);
  neighbours.resize(kept);
  return neighbours;
}

Index voted_class(std::span<const Neighbour> neighbours, Index count) {
  constexpr double kTemperature = 0.07;
  std::map<Index, double> votes;
  for (const Neighbour& neighbour :
       neighbours.first(std::min(static_cast<std::size_t>(count), neighbours.size()))) {
    votes[neighbour.label] += std::exp(neighbour.likeness / kTemperature);
  }
  const auto most =
      std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return most == votes.end() ? -1 : most->first;
}

}  // namespace mpitron::train
