#pragma once
#include <array>
#include <span>
#include <vector>

#include "train/step/train_step.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// Numbers of neighbours that are asked, as DINO's evaluation has them.
inline constexpr std::array<Index, 4> kNeighbourCounts{10, 20, 100, 200};

/// An image whose class is known, as a neighbour of another.
struct Neighbour {
  double likeness = 0;  // cosine of the angle between their features
  Index image = 0;
  Index label = 0;
};

/// Returns the first `count` neighbours by likeness, then by the number of the image; in that
/// order.
std::vector<Neighbour> nearest(std::vector<Neighbour> neighbours, Index count);

/// Returns the class for which the first `count` of ordered neighbours vote, each with exp(likeness
/// / 0.07) (Wu et al. 2018); of equal ones the lower.
Index voted_class(std::span<const Neighbour> neighbours, Index count);

/// Classifies images by their nearest neighbours among others whose classes are known, by the
/// features that a model without a classifier gives them. Known images lie in pieces on the
/// replicas; all ranks call the same.
class NearestNeighbours {
 public:
  NearestNeighbours(TrainStep& step, const TrainedModel& model) : step_(step), model_(model) {}

  /// Takes every known image once, in microbatches of which the last may have rows without weight.
  void learn(Index microbatches, const NextMicrobatch& next);
  /// Returns the share of images whose class is voted for, as "knn_acc_10" and so on, on all ranks.
  StepReport evaluate(Index microbatches, const NextMicrobatch& next);

 private:
  /// Images with the direction of their features.
  struct Images {
    std::vector<float> features;  // [n, h], each of length 1
    std::vector<Index> labels, numbers;

    Index size() const { return static_cast<Index>(labels.size()); }
  };
  /// Adds the images of a microbatch that count; empty where this rank does not read.
  void add_features(const HostMicrobatch& microbatch, Index number, Images& images);
  /// Returns, for each of this rank's images, the nearest known ones of all replicas.
  std::vector<std::vector<Neighbour>> neighbours_of(const Images& images) const;
  /// Answers questions [q, h] of all replicas with this rank's nearest, kMost each: likeness,
  /// image, label; a label of -1 stands for none.
  std::vector<double> own_answers(const std::vector<double>& questions, Index width) const;

  TrainStep& step_;
  const TrainedModel& model_;
  Images known_;
  tensor::Tensor known_features_;  // [n, h], fp32, on the device
};

}  // namespace mpitron::train
