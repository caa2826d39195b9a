#include "checkpoint/copy_queue.h"

#include "comm/stream_copy.h"

namespace mpitron::checkpoint {

void CopyQueue::work() {
  for (std::size_t i = next_++; i < copies_.size(); i = next_++) {
    const Copy& copy = copies_[i];
    comm::stream_copy(copy.to, copy.from, copy.bytes);
    if (done_.fetch_add(1, std::memory_order_release) + 1 == copies_.size()) {
      done_.notify_all();
    }
  }
}

void CopyQueue::finish() {
  work();
  for (std::size_t done = done_.load(std::memory_order_acquire); done < copies_.size();
       done = done_.load(std::memory_order_acquire)) {
    done_.wait(done, std::memory_order_acquire);
  }
}

}  // namespace mpitron::checkpoint
