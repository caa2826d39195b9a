#include "comm/cuda/nccl_watch.h"

namespace mpitron::comm {

NcclWatch::NcclWatch(std::shared_ptr<ProgressEngine> engine, std::chrono::milliseconds period)
    : engine_(std::move(engine)) {
  if (engine_->witness() != nullptr) {
    thread_ = std::thread([this, period] { watch(period); });
  }
}

/// Wakes the thread, so that the end of a run does not wait for its period.
NcclWatch::~NcclWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void NcclWatch::add(const std::shared_ptr<NcclChannel>& channel) {
  const std::lock_guard lock(mutex_);
  channels_.push_back(channel);
}

/// Looks at the channels; they are held weakly, so one that has ended is forgotten.
void NcclWatch::watch(std::chrono::milliseconds period) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period, [this] { return stopped_; })) {
    std::erase_if(channels_, [this](const std::weak_ptr<NcclChannel>& one) {
      const std::shared_ptr<NcclChannel> channel = one.lock();
      if (channel == nullptr) {
        return true;
      }
      if (const auto trouble = channel->trouble()) {
        engine_->witness()->stuck(trouble->what, trouble->seconds, trouble->error);
      }
      return false;
    });
  }
}

}  // namespace mpitron::comm
