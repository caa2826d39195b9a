#include "plan/published/published_table.h"

#include <fstream>

#include <gtest/gtest.h>

#include "plan/machine/exit_codes.h"
#include "plan/published/validation.h"
#include "support/temporary_folder.h"

namespace mpitron::plan {
namespace published_table_test {

const std::string kHeader =
    "id\tsource\ttable\tkind\thardware\tprecision\tmodel\tlayers\thidden\tffn\theads\tkv_heads\t"
    "head_dim\tgated\tvocab\texperts\ttopk\tmoe_ffn\tshared_ffn\tdense_"
    "layers\tseq\tgpus\tgbs\tmbs\t"
    "tp\tsp\tpp\tvp\tcp\tep\tdp_kind\trecompute\treported\tvalue\tstep_s\tstep_from\tmem_gib\t"
    "options\tnote";

/// A row of Llama 3 8B on 8 GPUs.
std::string row(const std::string& hardware, const std::string& tensor = "1",
                const std::string& batch = "128") {
  return "r1\tsomebody\ttable\tdense\t" + hardware +
         "\tbf16\tllama3-8b\t32\t4096\t14336\t32\t8\t128\t1\t128256\t0\t0\t0\t0\t0\t8192\t8\t" +
         batch + "\t?\t" + tensor + "\t0\t1\t1\t1\t1\tzero3\t?\ttokens/s/GPU\t9000\t14.6\t\t\t\t";
}

class PublishedTableTest : public ::testing::Test {
 protected:
  std::vector<PublishedRow> read(const std::string& text) const {
    const auto path = folder_.path() / "t.tsv";
    std::ofstream(path) << text;
    return read_published_table(path);
  }
  std::string mistake(const std::string& text) const {
    try {
      read(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kBadTable);
      const std::string what = error.what();
      return what.substr(what.find("t.tsv"));
    }
    return "none";
  }

  const test::TemporaryFolder folder_;
};

TEST_F(PublishedTableTest, WhatIsNotSaidIsNone) {
  const std::vector<PublishedRow> rows = read(kHeader + "\n" + row("dgx-h100-80-ib8x400") + "\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_FALSE(rows[0].micro_batch);
  EXPECT_FALSE(rows[0].recompute_known);
  EXPECT_EQ(rows[0].chunks, 1);
  EXPECT_EQ(rows[0].run.parallel.sharding_strategy, config::ShardingStrategy::optim_grads_params);
  EXPECT_EQ(rows[0].seconds, 14.6);
}

TEST_F(PublishedTableTest, MistakesNameLineAndColumn) {
  EXPECT_EQ(mistake("id\tsource\n"), "t.tsv:1: column precision is missing");
  EXPECT_EQ(mistake(kHeader + "\n1\t2\n"), "t.tsv:2: hardware '': a machine is expected");
  EXPECT_EQ(mistake(kHeader + "\n" + row("x", "two")),
            "t.tsv:2: tp 'two': a whole number from 1 to 100000 is expected");
  EXPECT_EQ(mistake(kHeader + "\n" + row("x", "1", "129")),
            "t.tsv:2: gbs '129': a multiple of data ranks x mbs = 8 is expected");
  EXPECT_EQ(mistake(kHeader + "\n" + row("x", "3")),
            "t.tsv:2: gpus '8': a multiple of tp x pp x cp = 3 is expected");
  EXPECT_EQ(mistake(kHeader + "\n"), "t.tsv: no rows");
}

/// Columns in another order, without what a source may leave out.
TEST_F(PublishedTableTest, ColumnsAreFoundByNameAndMayBeMissing) {
  const std::string header =
      "gpus\thardware\tseq\tgbs\ttp\tpp\tprecision\tlayers\thidden\theads\tvocab\tcp\t"
      "reported\tvalue\n";
  const std::string start = header + "8\tdgx-h100-80-ib8x400\t2048\t16\t2\t";
  const std::string end = "\tbf16\t24\t2048\t16\t51200\t\tTFLOP/s/GPU\t300";
  const PublishedRow row = read(start + "1" + end).at(0);
  EXPECT_EQ(row.id, "line 2");
  EXPECT_EQ(row.run.model.ffn_hidden_size, 8192);
  EXPECT_EQ(row.run.model.kv_channels, 128);
  EXPECT_EQ(row.run.parallel.data_parallel_size, 4);
  EXPECT_FALSE(row.chunks);
  EXPECT_EQ(row.unit, FigureUnit::tera_of_gpu);
  EXPECT_FALSE(read(start + "?" + end).at(0).layout_known);
  EXPECT_EQ(mistake(start + "" + end), "t.tsv:2: pp '': a whole number from 1 to 24 is expected");
}

/// Sizes of which no model can be made are refused where they stand.
TEST_F(PublishedTableTest, ShapesThatCannotBeAreNamed) {
  const auto with = [&](const std::string& cell, const std::string& other) {
    std::string text = row("dgx-h100-80-ib8x400");
    const auto at = text.find(cell);
    return mistake(kHeader + "\n" + text.replace(at, cell.size(), other) + "\n");
  };
  EXPECT_EQ(with("\t32\t8\t128\t", "\t32\t5\t128\t"),
            "t.tsv:2: kv_heads '5': a divisor of 32 heads is expected");
  EXPECT_EQ(with("\t4096\t14336\t32\t8\t128\t", "\t4100\t14336\t32\t8\t?\t"),
            "t.tsv:2: head_dim '?': a width is expected, as 32 heads do not divide 4100");
  EXPECT_EQ(with("\t14336\t", "\t0\t"),
            "t.tsv:2: ffn '0': a whole number from 1 to 10000000 is expected");
  EXPECT_EQ(with("\t8192\t8\t128\t?\t1\t0\t1\t1\t1\t1", "\t8191\t8\t128\t?\t1\t0\t1\t1\t2\t1"),
            "t.tsv:2: cp '2': a divisor of 8191 tokens is expected");
}

TEST_F(PublishedTableTest, UnknownHardwareIsNamedAndNotGuessed) {
  const std::vector<PublishedRow> rows =
      read(kHeader + "\n" + row("tpu-v7") + "\n" + row("h200-141-ib8x400") + "\n");
  const Validation validation = validate(Library(), rows);
  ASSERT_EQ(validation.unknown_hardware.size(), 1U);
  EXPECT_EQ(validation.unknown_hardware[0]->hardware, "tpu-v7");
  ASSERT_EQ(validation.rows.size(), 1U);
  EXPECT_FALSE(validation.rows[0].stack_is_known);
  EXPECT_LT(std::abs(validation.rows[0].error()), 0.4);
}

}  // namespace published_table_test
}  // namespace mpitron::plan
