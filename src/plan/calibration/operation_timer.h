#pragma once
#include "comm/groups/group.h"
#include "tensor/tensor.h"
#include "utils/numbers/median.h"
#include "utils/timer.h"

namespace mpitron::plan {

/// One operation of a group, on `bytes` of fp32.
class OperationTimer {
 public:
  OperationTimer(device::Device& device, comm::Group& group, Index bytes)
      : group_(group),
        /// Rounded down to whole pieces of all members.
        count_(bytes / 4 / group.size() * group.size()),
        whole_(tensor::Tensor::empty(device, {count_}, DType::f32)),
        other_(tensor::Tensor::empty(device, {count_}, DType::f32)),
        piece_(tensor::Tensor::empty(device, {count_ / group.size()}, DType::f32)) {}

  /// Returns the median of the repetitions, each begun by all members together; as many for all, of
  /// long operations fewer.
  double time(comm::CollectiveKind kind) {
    std::vector<double> times;
    double sum = 0;
    for (int i = 0; i < kMostRepetitions; ++i) {
      if (i >= kLeastRepetitions &&
          group_.reduce(sum, comm::Reduction::maximum) > kOperationSeconds) {
        break;
      }
      group_.barrier();
      const Timer timer;
      run(kind);
      times.push_back(timer.seconds());
      sum += times.back();
    }
    return median(std::move(times));
  }

 private:
  static constexpr int kMostRepetitions = 12;
  static constexpr int kLeastRepetitions = 3;
  static constexpr double kOperationSeconds = 0.1;  // enough for one operation of one size
  void run(comm::CollectiveKind kind) {
    using enum comm::CollectiveKind;
    const Index next = (group_.rank() + 1) % group_.size();
    const Index previous = (group_.rank() + group_.size() - 1) % group_.size();
    switch (kind) {
      case all_reduce:
        return group_.all_reduce(whole_.view()).wait();
      case reduce_scatter:
        return group_.reduce_scatter(whole_.view(), piece_.view()).wait();
      case all_gather:
        return group_.all_gather(piece_.view(), whole_.view()).wait();
      case all_to_all:
        return group_.all_to_all(whole_.view(), other_.view()).wait();
      case broadcast:
        return group_.broadcast(whole_.view(), 0).wait();
      case barrier:
        return group_.barrier();
      case send:
      case receive: {
        comm::Work sent = group_.send(whole_.view(), next);
        group_.receive(other_.view(), previous).wait();
        return sent.wait();
      }
    }
  }

  comm::Group& group_;
  Index count_;
  tensor::Tensor whole_, other_, piece_;
};

}  // namespace mpitron::plan
