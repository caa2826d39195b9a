#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "inference/scheduling/generator.h"

namespace mpitron::inference {

/// Who hears of the answers of one client's request, always on the service's thread.
struct AnswerGroup {
  std::vector<GenerationRequest> requests;  // `leader`: 0 or the number of a request before, from 1
  std::function<void(std::size_t, const Answer&)> answered;  // after each token
  std::function<void(const std::string&)> failed;  // the engine or the request; the last call
};

struct ServiceStats {
  Index running = 0, waiting = 0, preemptions = 0;
  Index prompt_tokens = 0, generated_tokens = 0, cached_tokens = 0;
  Index finished_groups = 0, cancelled_groups = 0;
  Index blocks = 0, blocks_free = 0;
};

/// A generator on a thread of its own, for any number of clients' threads.
class GenerationService {
 public:
  GenerationService(Engine& engine, const tokenizers::Tokenizer& tokenizer,
                    SchedulerSettings settings);
  /// Stops at once; open groups hear nothing more.
  ~GenerationService();

  std::uint64_t submit(AnswerGroup group);
  /// Gives a group's blocks back; it hears nothing more, but for a call that is under way.
  void cancel(std::uint64_t group);

  Index open_groups() const { return open_.load(); }
  ServiceStats stats() const;

 private:
  struct Group;
  void loop();
  void take_commands(bool wait);
  void start(std::uint64_t id, AnswerGroup group);
  void fail_all(const std::string& message);
  void publish();

  Engine& engine_;
  Generator generator_;
  Index blocks_;
  std::map<std::uint64_t, std::shared_ptr<Group>> groups_;  // the thread's own
  ServiceStats own_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::function<void()>> commands_;
  ServiceStats published_;
  std::uint64_t next_group_ = 1;
  bool stopping_ = false;
  std::atomic<Index> open_ = 0;
  std::thread thread_;
};

}  // namespace mpitron::inference
