#include "train/batches/microbatch.h"

#include <gtest/gtest.h>

#include "models/bert/bert_model.h"
#include "support/tiny_gpt.h"
#include "train/batches/made_up_corpus.h"

namespace mpitron::train {
namespace microbatch_test {

/// A rank that has not read gets every tensor that the reading one has, and no other.
TEST(BroadcastMicrobatch, GivesAllWhatOneHasRead) {
  config::ModelConfig config = test::tiny_gpt();
  config.kind = config::ModelKind::bert;
  comm::run_thread_world(2, [&](comm::World& world) {
    const auto device = device::make_device("host");
    const models::BertModel model(config, *device,
                                  {.groups = comm::groups_of_one(*comm::make_single_world()),
                                   .part = nn::whole_model(config)});
    MadeUpCorpus corpus(config);
    const DeviceMicrobatch read = upload(model, corpus.rows(2, 3));
    DeviceMicrobatch told =
        world.rank() == 0 ? read : upload(model, {.samples = 3, .sequence_length = 6});
    EXPECT_EQ(told.batch.entries().empty(), world.rank() != 0);
    broadcast_microbatch(*device, *world.all(), model, told);
    EXPECT_EQ(told.batch.loss_tokens, read.batch.loss_tokens);
    for (const auto& [name, tensor] : read.batch.entries()) {
      ASSERT_EQ(told.batch.find(name).shape(), tensor.shape()) << name;
      EXPECT_EQ(test::bits_of(told.batch.find(name)), test::bits_of(tensor)) << name;
    }
  });
}

TEST(Upload, KnowsPositionsWhereNothingIsRead) {
  const auto device = device::make_device("host");
  const models::GptModel model(test::tiny_gpt(), *device);
  const DeviceMicrobatch microbatch = upload(
      model, {.samples = 2, .sequence_length = 8, .first_sample = 40}, {.ranks = 2, .rank = 1});
  EXPECT_EQ(microbatch.sequence_length, 4);
  EXPECT_EQ(microbatch.whole_length, 8);
  EXPECT_EQ(microbatch.positions(0), 2);
  EXPECT_EQ(microbatch.first_sample, 40);
  EXPECT_TRUE(microbatch.batch.entries().empty());
}

}  // namespace microbatch_test
}  // namespace mpitron::train
