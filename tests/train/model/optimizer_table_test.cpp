#include "train/model/optimizer_table.h"

#include <gtest/gtest.h>

#include "support/contains.h"
#include "support/host_runtime.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace optimizer_table_test {

TEST(OptimizerTable, TellsWhichRuleTakesWhat) {
  const auto device = device::make_device("host");
  const config::RunConfig run =
      tiny_run({"--optimizer", "muon", "--muon-scalar-optimizer", "lion"}, 1);
  const std::string table = optimizer_table(run, *device);
  EXPECT_TRUE(test::contains(
      table, " > muon updates decoder.layers.*.self_attention.linear_qkv.weight [48, 16], "));
  const config::RunConfig soap = tiny_run({"--optimizer", "soap"}, 1);
  EXPECT_TRUE(test::contains(optimizer_table(soap, *device), " > soap updates decoder.layers.*"));
  EXPECT_TRUE(test::contains(table, " > lion updates embedding.word_embeddings.weight"));
  EXPECT_TRUE(test::contains(table, " > lion updates decoder.final_layernorm.weight [16], 1 time"));
}

}  // namespace optimizer_table_test
}  // namespace mpitron::train
