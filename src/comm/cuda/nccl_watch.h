#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/cuda/nccl_channel.h"
#include "comm/groups/work.h"

namespace mpitron::comm {

/// Looks after the channels of a rank twice a second and tells the engine's witness what is under
/// way or has failed (`Witness::stuck`): in a thread of its own, since the program may be waiting
/// for the GPU. Without a witness there is nobody to tell, and no thread.
class NcclWatch {
 public:
  /// `engine` outlives the watch; `period` is shorter in tests.
  explicit NcclWatch(std::shared_ptr<ProgressEngine> engine,
                     std::chrono::milliseconds period = std::chrono::milliseconds(500));
  ~NcclWatch();
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;

  /// Watches a channel until it ends.
  void add(const std::shared_ptr<NcclChannel>& channel);

 private:
  void watch(std::chrono::milliseconds period);

  const std::shared_ptr<ProgressEngine> engine_;
  /// Guards `stopped_` and `channels_`.
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::vector<std::weak_ptr<NcclChannel>> channels_;
  std::thread thread_;
};

}  // namespace mpitron::comm
