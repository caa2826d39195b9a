#include "train/step/microbatch_queue.h"

#include <algorithm>

namespace mpitron::train {

void MicrobatchQueue::begin(const NextMicrobatch& next) {
  next_ = &next;
  begin(std::deque<DeviceMicrobatch>());
}

void MicrobatchQueue::begin(std::deque<DeviceMicrobatch> microbatches) {
  microbatches_ = std::move(microbatches);
  first_ = 0;
  taken_.assign(static_cast<std::size_t>(model_.chunks()), 0);
}

std::deque<DeviceMicrobatch> MicrobatchQueue::take(Index count) {
  at(count - 1);
  return std::exchange(microbatches_, {});
}

/// Rank 0 of the tensor group reads; the others get what it has read.
const DeviceMicrobatch& MicrobatchQueue::at(Index index) {
  const Index place = index - first_;
  MPITRON_CHECK(place >= 0, index, first_);
  const models::Model& model = model_.chunk(0);
  const comm::Group& context = *model_.groups().context;
  while (place >= static_cast<Index>(microbatches_.size())) {
    const TimerScope scope = timers_.scope("batch-generator", 2);
    DeviceMicrobatch& last = microbatches_.emplace_back(
        upload(model, (*next_)(), {.ranks = context.size(), .rank = context.rank()}));
    if (model_.reads_data()) {
      broadcast_microbatch(device_, *model_.groups().tensor, model, last);
    }
  }
  return microbatches_[static_cast<std::size_t>(place)];
}

void MicrobatchQueue::taken_by(Index chunk) {
  ++taken_[static_cast<std::size_t>(chunk)];
  for (const Index by_all = *std::ranges::min_element(taken_); first_ < by_all; ++first_) {
    microbatches_.pop_front();
  }
}

}  // namespace mpitron::train
