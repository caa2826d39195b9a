// Takes times on a stream. On the host work ends before a launch returns, so the clock of the host
// serves.
#include "device/stream_clock.h"

#include <utility>

#include "utils/trace.h"

namespace mpitron::device {
namespace {

/// Clock of a stream on which nothing is queued.
class HostClock final : public StreamClock {
 public:
  void mark() override { marks_.push_back(Trace::now()); }
  std::vector<std::int64_t> take() override { return std::exchange(marks_, {}); }

 private:
  std::vector<std::int64_t> marks_;
};

}  // namespace

std::unique_ptr<StreamClock> make_stream_clock(Stream& stream) {
  return std::visit(
      []<class S>(S& s) -> std::unique_ptr<StreamClock> {
        if constexpr (std::is_same_v<S, CudaStream>) {
          return make_stream_clock(s);
        } else {
          return std::make_unique<HostClock>();
        }
      },
      stream);
}

}  // namespace mpitron::device
