#include "train/step/microbatch_queue.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace microbatch_queue_test {

class MicrobatchQueueTest : public ::testing::Test {
 protected:
  std::unique_ptr<device::Device> device_ = device::make_device("host");
  std::unique_ptr<comm::World> world_ = comm::make_single_world();
  TrainedModel model_{*device_, tiny_run(), *world_};
  Timers timers_{0, config::TimingLogOption::max};
  MicrobatchQueue queue_{*device_, model_, timers_};
  TinyCorpus corpus_;
};

TEST_F(MicrobatchQueueTest, ReadsOnlyWhatIsAskedForAndForgetsWhatIsTaken) {
  Index read = 0;
  const NextMicrobatch next = [&] { return corpus_.rows(2 * read++, 2); };
  queue_.begin(next);
  EXPECT_EQ(read, 0);
  EXPECT_EQ(queue_.at(0).first_sample, 0);
  queue_.taken_by(0);
  EXPECT_EQ(queue_.at(1).first_sample, 2);
  EXPECT_EQ(read, 2);
  EXPECT_THROW(queue_.at(0), InternalError);
}

TEST_F(MicrobatchQueueTest, APassMayBeGivenWhatWasTakenOut) {
  const NextMicrobatch next = corpus_.from(0, 2);
  queue_.begin(next);
  std::deque<DeviceMicrobatch> all = queue_.take(3);
  EXPECT_EQ(all.size(), 3u);
  queue_.begin(std::move(all));
  EXPECT_EQ(queue_.at(2).first_sample, 4);
}

}  // namespace microbatch_queue_test
}  // namespace mpitron::train
